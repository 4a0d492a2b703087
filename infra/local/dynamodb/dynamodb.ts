/** DynamoDB on one machine: dynalite's tables behind an HTTP front with the features that dynalite lacks. */
import { type Action, jsonListener } from '../json-protocol.ts'
import { type LocalService, serve } from '../service.ts'
import { CompletedTransactions } from './completed.ts'
import { claimDirectory } from './directory.ts'
import { openStore, type Request } from './dynalite.ts'
import { ServiceError } from './errors.ts'
import { ReaderWriterLock } from './lock.ts'
import { handlers } from './operations.ts'
import { recover } from './recovery.ts'

export interface DynamoDbOptions {
  /** The folder of the tables; absent: in memory. */
  readonly directory?: string
  /** The clock of idempotency tokens, in milliseconds since 1970. */
  readonly now?: () => number
}

const BODY_BYTES_MAX = 16 * 1024 * 1024 // DynamoDB's own limit for a request (BatchWriteItem API reference)

/**
 * Starts the service once its state is consistent. An answered write has reached the system and survives kill -9 of
 * this process; transactions and index rows are never torn. Rejects with a `StateError` (`state_in_use`,
 * `state_unusable`).
 */
export async function startDynamoDb(options: DynamoDbOptions): Promise<LocalService> {
  const { store, release } = await open(options.directory)
  try {
    await recover(store)
    const completed = await CompletedTransactions.load(store, options.now ?? Date.now)
    const lock = new ReaderWriterLock()
    const actions = Object.entries(handlers).map(([operation, { mode, run }]): [string, Action] => [
      operation,
      (input) => lock[mode](() => run(store, requestOf(input), completed)),
    ])
    const listener = jsonListener({
      target: 'DynamoDB_20120810',
      version: '1.0',
      errorNamespace: 'com.amazonaws.dynamodb.v20120810',
      bodyBytesMax: BODY_BYTES_MAX,
      actions: Object.fromEntries(actions),
    })
    const service = await serve(listener)
    let closing: Promise<void> | undefined
    return {
      url: service.url,
      close() {
        // Requests under way finish first: `release` waits for the lock behind them.
        closing ??= service.close().then(() => lock.exclusive(release))
        return closing
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}

async function open(directory: string | undefined): ReturnType<typeof claimDirectory> {
  if (directory !== undefined) return claimDirectory(directory)
  const store = await openStore(undefined)
  return { store, release: () => store.db.close() }
}

function requestOf(input: unknown): Request {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Request
  throw new ServiceError('SerializationException', 'The body is not a JSON object')
}
