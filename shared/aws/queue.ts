/** Nudges: "look at this pull request". They carry no state, so one too many or one in another order does no harm. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { sayingRetry, withDeadline } from './client.ts'

/** A FIFO queue that nudges go to. */
export interface NudgeQueue {
  readonly client: SQSClient
  readonly url: string
}

/** What post is nudged with. The run tells which messages and which check run to look at. */
export interface OutboxNudge {
  readonly contract: number
  readonly repositoryId: number
  readonly number: number
  readonly runId: string
}

/** What command is nudged with. */
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
 * Sends a nudge, in order within its pull request. `nonce` makes it distinct: the queue's five-minute deduplication
 * must not swallow a later nudge that says the same (AW31).
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
