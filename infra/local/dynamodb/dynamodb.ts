/** DynamoDB on one machine: dynalite's tables behind an HTTP front that adds what dynalite lacks. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LocalService, serve } from '../service.ts'
import { CompletedTransactions } from './completed.ts'
import { claimDirectory } from './directory.ts'
import { openStore, type Request } from './dynalite.ts'
import { ServiceError, validationError } from './errors.ts'
import { ReaderWriterLock } from './lock.ts'
import { type Handler, handlers } from './operations.ts'
import { recover } from './recovery.ts'

export interface DynamoDbOptions {
  /** Where the tables are kept; absent: in memory. */
  readonly directory?: string
  /** Absent: any free port. */
  readonly port?: number
  /** The clock of idempotency tokens, in milliseconds since 1970. */
  readonly now?: () => number
}

const BODY_BYTES_MAX = 16 * 1024 * 1024 // DynamoDB's own limit for a request (BatchWriteItem API reference)
const CONTENT_TYPE = 'application/x-amz-json-1.0'
const TARGET_PREFIX = 'DynamoDB_20120810.'

/**
 * Starts the service once its state is consistent. An answered write has reached the system and survives kill -9 of
 * this process; transactions and index rows are never torn. Rejects with a `StateError` (`state_in_use`,
 * `state_unusable`) or the system's `EADDRINUSE`.
 */
export async function startDynamoDb(options: DynamoDbOptions): Promise<LocalService> {
  const { store, release } = await open(options.directory)
  try {
    await recover(store)
    const completed = await CompletedTransactions.load(store, options.now ?? Date.now)
    const lock = new ReaderWriterLock()
    const service = await serve((request, response) => {
      void answer(request, response, (handler, body) => lock[handler.mode](() => handler.run(store, body, completed)))
    }, options.port)
    let closing: Promise<void> | undefined
    return {
      url: service.url,
      close() {
        // The requests that are already under way finish first: `release` waits for the lock behind them.
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  run: (handler: Handler, body: Request) => Promise<unknown>,
): Promise<void> {
  try {
    send(response, 200, await run(handlerOf(request), await readBody(request)))
  } catch (error) {
    if (error instanceof ServiceError) {
      // Both spellings are in use, and the SDK reads the one that the error's shape has.
      const { name, message, members } = error
      send(response, 400, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message, Message: message, ...members })
    } else if (!response.destroyed) {
      console.error('The local DynamoDB failed', error)
      send(response, 500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: String(error) })
    }
  }
}

function handlerOf(request: IncomingMessage): Handler {
  // A browser can't send this header across origins without asking first, and is never told yes.
  const target = request.headers['x-amz-target']
  const operation =
    typeof target === 'string' && target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : ''
  const handler = handlers.get(operation)
  if (handler === undefined)
    throw new ServiceError('UnknownOperationException', `Unknown operation: ${target ?? 'none'}`)
  return handler
}

async function readBody(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= BODY_BYTES_MAX) chunks.push(chunk) // the rest is read too, or the client would never hear the answer
  }
  if (length > BODY_BYTES_MAX) throw validationError('Request size cannot exceed 16777216 bytes')
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Request
  } catch (error) {
    throw new ServiceError('SerializationException', 'The body is not JSON', {}, { cause: error })
  }
  throw new ServiceError('SerializationException', 'The body is not a JSON object')
}

function send(response: ServerResponse, status: number, content: unknown): void {
  const body = Buffer.from(JSON.stringify(content))
  response.writeHead(status, {
    'content-type': CONTENT_TYPE,
    'content-length': body.length,
    'x-amzn-requestid': randomUUID(),
  })
  response.end(body)
}
