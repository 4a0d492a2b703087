/** The make of every AWS client: a deadline on each call, kept connections, and Retry `busy` for transient errors. */
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { nameOf, Retry } from '../base/errors.ts'
import { AWS_CALL_MS, AWS_CONNECT_MS, AWS_RETRY_AFTER_MS } from '../base/limits.ts'
import { redact } from '../base/redaction.ts'

/** A request handler with deadlines, for any SDK client. */
export function withDeadline(): NodeHttpHandler {
  return new NodeHttpHandler({
    connectionTimeout: AWS_CONNECT_MS,
    requestTimeout: AWS_CALL_MS,
    throwOnRequestTimeout: true,
  })
}

/**
 * The client, with calls that reject with Retry `busy` if AWS was unreachable or out of capacity after the SDK's own tries: the
 * state machine and the queues know the name and try again. Every other error keeps its name and is redacted: an unexpected
 * error is logged by the runtime, and kept by the state machine's history.
 */
export function sayingRetry<Client extends { readonly middlewareStack: object }>(client: Client): Client {
  const middleware: Middleware = (next) => async (request) => {
    try {
      return await next(request)
    } catch (error) {
      throw isTransient(error) ? busy(error) : redacted(error)
    }
  }
  const stack = client.middlewareStack as Stack
  stack.add(middleware, { step: 'initialize', name: 'sayRetry', priority: 'high' })
  return client
}

/** The used part of an SDK client's stack. The stack types the requests and answers of its client, and none is read here. */
interface Stack {
  /** The step `initialize` is the outermost: around the SDK's own tries. */
  add(middleware: Middleware, options: { step: 'initialize'; name: string; priority: 'high' }): void
}
type Call = (request: unknown) => Promise<unknown>
type Middleware = (next: Call) => Call

/** Names of AWS errors for a lack of capacity; the SDK's class of the error is not always set. */
const THROTTLED = new Set([
  'ThrottlingException',
  'ThrottledException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'TooManyRequestsException',
  'SlowDown',
])
/** Codes of refused, broken and unanswered connections. */
const UNREACHABLE = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])

function isTransient(error: unknown): boolean {
  const { code, $fault, $metadata } = error as {
    code?: string
    $fault?: string
    $metadata?: { httpStatusCode?: number }
  }
  const name = nameOf(error)
  return (
    THROTTLED.has(name) ||
    name === 'TimeoutError' ||
    $fault === 'server' ||
    ($metadata?.httpStatusCode ?? 0) >= 500 ||
    UNREACHABLE.has(code ?? '')
  )
}

/** The same error, with its class, its name and its members. A stack begins with the message. */
function redacted(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  error.message = redact(error.message)
  if (error.stack !== undefined) error.stack = redact(error.stack)
  return error
}

function busy(error: unknown): Retry {
  return new Retry('busy', `AWS was unavailable (${nameOf(error)}).`, AWS_RETRY_AFTER_MS, { cause: error })
}
