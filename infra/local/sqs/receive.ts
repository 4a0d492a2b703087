/** ReceiveMessage: short and long polls, and the receiver's view of a message. */
import { z } from 'zod'
import { accountId } from './attributes.ts'
import { sequenceNumber } from './message.ts'
import type { ReceivedMessage } from './messages.ts'
import type { SqsState } from './state.ts'

/** Strict, as for a sent message. The ranges are those of ReceiveMessage in the SQS API reference. */
export const receiveSchema = z.strictObject({
  QueueUrl: z.string(),
  MessageSystemAttributeNames: z.array(z.string()).default([]),
  MaxNumberOfMessages: z.int().min(1).max(10).default(1),
  WaitTimeSeconds: z.int().min(0).max(20).default(0),
})

/**
 * Takes visible messages. Without a visible message, waits up to the requested time, in real seconds, until a message
 * arrives, becomes visible, or is freed by its group. A caller that leaves takes no message with it.
 */
export async function receive(
  { queues, messages, waiters }: SqsState,
  queueName: string,
  request: z.infer<typeof receiveSchema>,
  signal: AbortSignal,
): Promise<object> {
  const deadline = performance.now() + request.WaitTimeSeconds * 1_000
  const queue = queues.get(queueName)
  while (!signal.aborted && !waiters.ended) {
    const taken = messages.receive(queue, request.MaxNumberOfMessages)
    if (taken.length > 0) return { Messages: taken.map((one) => shown(one, request.MessageSystemAttributeNames)) }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) break
    await waiters.wait(queue.id, Math.min(leftMs, messages.untilNextVisibleMs(queue) ?? leftMs), signal)
  }
  return {}
}

/** The receiver's view of a message: with the requested system attributes, or with `All`. */
export function shown(message: ReceivedMessage, names: readonly string[]): object {
  return {
    MessageId: message.id,
    ReceiptHandle: message.handle,
    MD5OfBody: message.body_md5,
    Body: message.body,
    ...(names.length > 0 && { Attributes: systemAttributes(message, names) }),
  }
}

export function systemAttributes(message: ReceivedMessage, names: readonly string[]): Record<string, string> {
  const all = {
    ApproximateFirstReceiveTimestamp: String(message.first_received_at),
    ApproximateReceiveCount: String(message.receives),
    ...(message.source_arn !== null && { DeadLetterQueueSourceArn: message.source_arn }),
    MessageDeduplicationId: message.deduplication_id,
    MessageGroupId: message.group_id,
    SenderId: accountId,
    SentTimestamp: String(message.sent_at),
    SequenceNumber: sequenceNumber(message.seq),
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes('All') || names.includes(name)))
}
