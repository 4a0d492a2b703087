/** ReceiveMessage: short and long polls, and which attributes of a message the caller sees. */
import { z } from 'zod'
import { sequenceNumber } from './answers.ts'
import { accountId, numberWithin, ranges } from './attributes.ts'
import { sqsError } from './errors.ts'
import { type MessageAttributes, md5OfAttributes } from './message.ts'
import type { ReceivedMessage } from './messages.ts'
import type { Queue } from './queues.ts'
import type { SqsState } from './state.ts'

export const receiveSchema = z.object({
  AttributeNames: z.array(z.string()).default([]),
  MessageSystemAttributeNames: z.array(z.string()).default([]),
  MessageAttributeNames: z.array(z.string()).default([]),
  MaxNumberOfMessages: z.number().default(1),
  VisibilityTimeout: z.number().optional(),
  WaitTimeSeconds: z.number().optional(),
  ReceiveRequestAttemptId: z.string().optional(),
})

export type ReceiveRequest = z.infer<typeof receiveSchema>

/** ReceiveMessage in the SQS API reference. */
const messagesMax = 10

/**
 * Takes what is visible; if that is nothing, waits up to the asked or the queue's time, in real seconds, for a message
 * to arrive, to become visible, or to be freed by its group. A caller that goes away takes nothing with it.
 */
export async function receive(
  state: SqsState,
  queueName: string,
  request: ReceiveRequest,
  signal: AbortSignal,
): Promise<object> {
  const { queues, messages, waiters } = state
  const asked = checked(queues.get(queueName), request)
  const deadline = performance.now() + asked.waitSeconds * 1_000
  while (!signal.aborted && !waiters.ended) {
    const queue = queues.get(queueName) // looked up each time: it may have been changed or deleted meanwhile
    const taken = messages.receive(queue, asked.max, asked.visibilitySeconds)
    if (taken.length > 0) return { Messages: taken.map((message) => shown(queue, message, request)) }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) break
    await waiters.wait(queue.id, Math.min(leftMs, messages.untilNextVisibleMs(queue) ?? leftMs), signal)
  }
  return {}
}

/** What is asked of a receive, in numbers that SQS would take. */
export function checked(
  queue: Queue,
  request: ReceiveRequest,
): { max: number; visibilitySeconds: number; waitSeconds: number } {
  if (request.ReceiveRequestAttemptId !== undefined) {
    throw sqsError('UnsupportedOperation', 'ReceiveRequestAttemptId has no effect on one machine. Leave it out.')
  }
  const { visibilityTimeoutSeconds, waitSeconds } = queue.settings
  return {
    max: numberWithin('MaxNumberOfMessages', [1, messagesMax], request.MaxNumberOfMessages),
    visibilitySeconds: numberWithin(
      'VisibilityTimeout',
      ranges.VisibilityTimeout,
      request.VisibilityTimeout ?? visibilityTimeoutSeconds,
    ),
    waitSeconds: numberWithin(
      'WaitTimeSeconds',
      ranges.ReceiveMessageWaitTimeSeconds,
      request.WaitTimeSeconds ?? waitSeconds,
    ),
  }
}

/** A message as its receiver sees it: with the attributes that were asked for. */
export function shown(queue: Queue, message: ReceivedMessage, request: ReceiveRequest): object {
  const attributes = chosenAttributes(message, request.MessageAttributeNames)
  return {
    MessageId: message.id,
    ReceiptHandle: message.handle,
    MD5OfBody: message.body_md5,
    Body: message.body,
    Attributes: systemAttributes(queue, message, [...request.AttributeNames, ...request.MessageSystemAttributeNames]),
    MD5OfMessageAttributes: md5OfAttributes(attributes),
    MessageAttributes: attributes,
  }
}

function systemAttributes(queue: Queue, message: ReceivedMessage, names: readonly string[]): object | undefined {
  if (names.length === 0) return undefined
  const all: Record<string, string | null> = {
    ApproximateFirstReceiveTimestamp: String(message.first_received_at),
    ApproximateReceiveCount: String(message.receives),
    AWSTraceHeader: message.trace_header,
    DeadLetterQueueSourceArn: message.source_arn,
    MessageDeduplicationId: message.deduplication_id,
    MessageGroupId: message.group_id,
    SenderId: accountId,
    SentTimestamp: String(message.sent_at),
    SequenceNumber: queue.settings.fifo ? sequenceNumber(message.seq) : null,
  }
  const wanted = Object.entries(all).filter(
    ([name, value]) => value !== null && (names.includes('All') || names.includes(name)),
  )
  return Object.fromEntries(wanted)
}

function chosenAttributes(message: ReceivedMessage, names: readonly string[]): MessageAttributes | undefined {
  if (message.attributes === null || names.length === 0) return undefined
  const matches = (name: string) =>
    names.some(
      (asked) =>
        asked === 'All' ||
        asked === name ||
        (asked.endsWith('.*') && name.startsWith(asked.slice(0, -1))) ||
        asked === '.*',
    )
  const wanted = Object.entries(JSON.parse(message.attributes) as MessageAttributes).filter(([name]) => matches(name))
  return wanted.length > 0 ? Object.fromEntries(wanted) : undefined
}
