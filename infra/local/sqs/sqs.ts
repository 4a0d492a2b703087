/**
 * Amazon SQS on one machine: the queues of one account, over the protocol of the AWS SDK, in one SQLite file. FIFO
 * queues, long polls, visibility, retention, deduplication and dead letters behave as AWS documents them. The service
 * refuses features that the stack doesn't use: standard queues, delays, message attributes, policies, tags.
 */
import { jsonListener } from '../json-protocol.ts'
import { type LocalService, serve } from '../service.ts'
import { sqsActions } from './actions.ts'
import { openDatabase } from './database.ts'
import { openMessages } from './messages.ts'
import { openQueues } from './queues.ts'
import type { SqsState } from './state.ts'
import { createWaiters } from './waiters.ts'

export interface SqsOptions {
  /** The SQLite file; made with its folders if absent. Without a file, all state is in memory. */
  readonly file?: string
  /** Milliseconds since 1970; decides visibility, retention and deduplication. Long polls wait in real time. */
  readonly now?: () => number
  /**
   * True where all consumers live in this process: messages in flight from an earlier process are visible at once.
   * Otherwise a killed process would lock a FIFO group for a visibility timeout, many times the timeout of its
   * function.
   */
  readonly consumersWithin?: boolean
}

/** A body of 1 MiB with every byte escaped as \u00XX, and the rest of the request. */
const requestBytesMax = 7 * 1_048_576

/**
 * Serves SQS until closed. An answered message survives the end of the process at any moment. Rejects with
 * `sqs_state_in_use` if another process has the file.
 */
export async function startSqs(options: SqsOptions): Promise<LocalService> {
  const now = options.now ?? Date.now
  const database = openDatabase(options.file)
  const queues = openQueues(database)
  const messages = openMessages(database, queues, now)
  if (options.consumersWithin) messages.returnFlights()
  const state: SqsState = { queues, messages, waiters: createWaiters() }
  const listener = jsonListener({
    target: 'AmazonSQS',
    version: '1.0',
    errorNamespace: 'com.amazonaws.sqs',
    bodyBytesMax: requestBytesMax,
    actions: sqsActions(state),
  })
  const service = await serve(listener)
  let closing: Promise<void> | undefined
  return {
    url: service.url,
    close() {
      state.waiters.end()
      closing ??= service.close().then(() => database.close())
      return closing
    },
  }
}
