/**
 * An SQS event source of Lambda on one machine: polls, invokes, and deletes each message without a reported failure.
 */
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { PlainEventSource } from '../plain-stack.ts'

export interface EventSourceOptions {
  readonly client: SQSClient
  readonly queueUrl: string
  readonly queueArn: string
  readonly source: PlainEventSource
  readonly invoke: (functionName: string, event: unknown) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Seconds of one long poll: SQS's own maximum. */
const LONG_POLL_S = 20
/** Pollers of a source without a limit of its own; a poller has at most one invocation under way. */
const POLLERS_DEFAULT = 4
/** ms after a failed poll: the queue may be closing. */
const AFTER_ERROR_MS = 200

/** Starts polling; `close` ends all polls and resolves when no invocation is under way. */
export function startEventSource(options: EventSourceOptions): { close(): Promise<void> } {
  const stopping = new AbortController()
  const pollers = Array.from(
    { length: Math.min(POLLERS_DEFAULT, options.source.maxConcurrency ?? POLLERS_DEFAULT) },
    () => poll(options, stopping.signal),
  )
  return {
    async close() {
      stopping.abort()
      await Promise.all(pollers)
    },
  }
}

async function poll(options: EventSourceOptions, signal: AbortSignal): Promise<void> {
  const { client, queueUrl, source, onError } = options
  while (!signal.aborted) {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: Math.min(10, source.batchSize),
          WaitTimeSeconds: LONG_POLL_S,
          MessageSystemAttributeNames: ['All'],
        }),
        { abortSignal: signal },
      )
      if (Messages.length > 0) await deliver(options, Messages)
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS))
    }
  }
}

/**
 * A function that throws, or answers without a report, has done nothing: the whole batch returns, as with Lambda's
 * partial batch responses.
 */
async function deliver(options: EventSourceOptions, messages: readonly Message[]): Promise<void> {
  const { client, queueUrl, source, invoke, onError } = options
  let unfinished: ReadonlySet<string>
  try {
    const report = await invoke(source.function, {
      Records: messages.map((message) => recordOf(message, options.queueArn)),
    })
    unfinished = source.reportBatchItemFailures ? unfinishedOf(report, messages) : new Set()
  } catch (error) {
    onError(error)
    unfinished = new Set(messages.map(({ MessageId = '' }) => MessageId))
  }
  const entries = messages.map(({ MessageId = '', ReceiptHandle = '' }) => ({ Id: MessageId, ReceiptHandle }))
  const done = entries.filter(({ Id }) => !unfinished.has(Id))
  const again = entries.filter(({ Id }) => unfinished.has(Id))
  if (done.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: done }))
  if (again.length > 0) {
    // On AWS these messages return when their visibility ends, minutes later; here a person waits.
    const entriesAgain = again.map((entry) => ({ ...entry, VisibilityTimeout: 1 }))
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries: entriesAgain }))
  }
}

function unfinishedOf(report: unknown, messages: readonly Message[]): ReadonlySet<string> {
  const all = new Set(messages.map(({ MessageId = '' }) => MessageId))
  const failures = (report as { batchItemFailures?: unknown } | null)?.batchItemFailures
  if (failures === undefined || failures === null) return new Set()
  if (!Array.isArray(failures)) return all
  const ids = failures.map((failure: { itemIdentifier?: unknown }) => failure?.itemIdentifier)
  return ids.every((id) => typeof id === 'string' && all.has(id)) ? new Set(ids as string[]) : all
}

function recordOf(message: Message, queueArn: string): object {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: {},
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  }
}
