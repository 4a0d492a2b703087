/** Nudges to look at a pull request. A nudge carries no state: a lost, doubled or reordered nudge does no harm. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { sayingRetry, withDeadline } from './client.ts'

/** A FIFO queue of nudges. */
export interface NudgeQueue {
  readonly client: SQSClient
  readonly url: string
}

/** A nudge of post. The run names the messages and the check run to look at. */
export interface OutboxNudge {
  readonly contract: number
  readonly repositoryId: number
  readonly number: number
  readonly runId: string
}

/** A nudge of command. */
export interface InboxNudge {
  readonly contract: number
  readonly repositoryId: number
  readonly number: number
  readonly cause: string
}

/** Opens a queue; nothing is sent yet. */
export function openQueue(url: string): NudgeQueue {
  return { client: sayingRetry(new SQSClient({ requestHandler: withDeadline() })), url }
}

/**
 * Sends a nudge, in order within its pull request. `nonce` makes the nudge distinct: the queue's five-minute
 * deduplication must not swallow a later nudge with the same content (AW31).
 */
export async function nudge(
  queue: NudgeQueue,
  body: OutboxNudge | InboxNudge,
  nonce: string,
  signal?: AbortSignal,
): Promise<void> {
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
