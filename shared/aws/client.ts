/** How every AWS client of ours is made: a deadline on each call, connections kept, and "not now" said in our own words. */
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { nameOf, Retry } from '../base/errors.ts'
import { AWS_CALL_MS, AWS_RETRY_AFTER_MS } from '../base/limits.ts'
import { redact } from '../base/redaction.ts'

/** A request handler with deadlines, for any SDK client. */
export function withDeadline(): NodeHttpHandler {
  return new NodeHttpHandler({ connectionTimeout: 1_000, requestTimeout: AWS_CALL_MS, throwOnRequestTimeout: true })
}

/**
 * The client, whose calls reject with Retry `busy` where AWS was not reachable or had no capacity after the SDK's own
 * tries: the state machine and the queues know that name and ask again. Every other error keeps its name, and is redacted:
 * where nobody expects it, the runtime logs it, and the state machine's history keeps it.
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

/** What is used of an SDK client's stack; it types each client's requests and answers, and nothing of them is looked at. */
interface Stack {
  /** The step `initialize` is the outermost: around the SDK's own tries. */
  add(middleware: Middleware, options: { step: 'initialize'; name: string; priority: 'high' }): void
}
type Call = (request: unknown) => Promise<unknown>
type Middleware = (next: Call) => Call

/** Names by which AWS says that it has no capacity now; the SDK's class for it is not always set. */
const THROTTLED = new Set([
  'ThrottlingException',
  'ThrottledException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'TooManyRequestsException',
  'SlowDown',
])
/** Codes of connections that were refused, or broke, or never answered. */
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

/** The same error: whoever looks at its class, its name or its members finds them. A stack begins with the message. */
function redacted(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  error.message = redact(error.message)
  if (error.stack !== undefined) error.stack = redact(error.stack)
  return error
}

function busy(error: unknown): Retry {
  return new Retry('busy', `AWS could not do it now (${nameOf(error)}).`, AWS_RETRY_AFTER_MS, { cause: error })
}
