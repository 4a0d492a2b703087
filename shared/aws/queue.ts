/** Nudges to look at a pull request. A nudge carries no state: a lost, doubled or reordered nudge does no harm. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Nudge } from '../runs/contract.ts'
import { sayingRetry, withDeadline } from './client.ts'

/** A FIFO queue of nudges. */
export interface NudgeQueue {
  readonly client: SQSClient
  readonly url: string
}

/** Opens a queue; nothing is sent yet. */
export function openQueue(url: string): NudgeQueue {
  return { client: sayingRetry(new SQSClient({ requestHandler: withDeadline() })), url }
}

/**
 * Sends a nudge, in order within its pull request. `nonce` makes the nudge distinct: the queue's five-minute deduplication must
 * not swallow a later nudge with the same content (AW31).
 */
export async function nudge(queue: NudgeQueue, body: Nudge, nonce: string, signal?: AbortSignal): Promise<void> {
  await queue.client.send(
    new SendMessageCommand({
      QueueUrl: queue.url,
      MessageBody: JSON.stringify(body),
      MessageGroupId: `${body.repositoryId}-${body.number}`,
      MessageDeduplicationId: nonce,
    }),
    signal ? { abortSignal: signal } : {},
  )
}
