/** Puts the simulated wire in place of a room's two network clients: the AWS SDK's request handler, and `fetch`. */
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import type { NodeHttpHandler as Handler } from '@smithy/node-http-handler'
import type { WireAnswer, WireRequest } from '../services/service.ts'
import { currentActor } from './actor.ts'
import type { Ending, Wire } from './wire.ts'

/** The same module instance as in the SDK's clients: a test runner may give an `import` another copy. */
const { NodeHttpHandler } = createRequire(import.meta.url)('@smithy/node-http-handler') as {
  NodeHttpHandler: typeof Handler
}
type Handle = Handler['handle']
type AwsRequest = Parameters<Handle>[0]
type AwsResponse = Awaited<ReturnType<Handle>>['response']

const realHandle: Handle = NodeHttpHandler.prototype.handle
const realFetch = globalThis.fetch

/** Replaces both clients; the returned function restores both. */
export function replaceHttp(wire: Wire): () => void {
  NodeHttpHandler.prototype.handle = function handle(this: Handler, request, options = {}) {
    if (!currentActor()) return realHandle.call(this, request, options)
    return handleOver(wire, this, request, options)
  }
  globalThis.fetch = (input, init) => (currentActor() ? fetchOver(wire, input, init) : realFetch(input, init))
  return () => {
    NodeHttpHandler.prototype.handle = realHandle
    globalThis.fetch = realFetch
  }
}

async function handleOver(
  wire: Wire,
  handler: Handler,
  request: AwsRequest,
  { abortSignal, requestTimeout }: Parameters<Handle>[1] & object,
): Promise<{ response: AwsResponse }> {
  const { config, configProvider } = handler as unknown as {
    config?: HandlerConfig
    configProvider: Promise<HandlerConfig>
  }
  const timeoutMs = requestTimeout ?? (config ?? (await configProvider)).requestTimeout
  const answer = await answered(wire, request.hostname, wireRequestOf(request), {
    signal: abortSignal as AbortSignal | undefined,
    abortError: abortErrorOf,
    timeoutMs,
    resetError: () =>
      // The SDK's own handler names a broken connection like this, and thereby triggers the SDK's retries.
      Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'TimeoutError' }),
  })
  const isContent = request.method === 'GET'
  const bytes = Buffer.from(answer.body, 'utf8')
  const body: unknown = isContent ? Readable.from([bytes], { objectMode: false }) : bytes
  return { response: { statusCode: answer.status, headers: { ...answer.headers }, body } as AwsResponse }
}

interface HandlerConfig {
  readonly requestTimeout?: number
}

function wireRequestOf({ method, path, query, headers, body }: AwsRequest): WireRequest {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value]
    return values.map((each) => `${encodeURIComponent(name)}${each === null ? '' : `=${encodeURIComponent(each)}`}`)
  })
  return {
    method,
    path: pairs.length > 0 ? `${path}?${pairs.join('&')}` : path,
    headers: lowerCased(headers),
    body: textOf(body),
  }
}

async function fetchOver(
  wire: Wire,
  input: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1] = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input)
  const request: WireRequest = {
    method: (init.method ?? 'GET').toUpperCase(),
    path: `${url.pathname}${url.search}`,
    headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
    body: textOf(init.body),
  }
  const answer = await answered(wire, url.hostname, request, {
    signal: init.signal ?? undefined,
    abortError: ({ reason }) => reason,
    timeoutMs: undefined,
    resetError: () =>
      // Node.js's wording: https://github.com/nodejs/undici/blob/main/docs/docs/api/Errors.md
      new TypeError('fetch failed', { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) }),
  })
  const hasBody = answer.status !== 204 && answer.status !== 304
  return new Response(hasBody ? streamOf(answer.body) : null, { status: answer.status, headers: answer.headers })
}

interface Sending {
  readonly signal: AbortSignal | undefined
  readonly abortError: (signal: AbortSignal) => unknown
  readonly timeoutMs: number | undefined
  readonly resetError: () => Error
}

/** A client that gives up early, by signal or deadline, doesn't call the request back: the request may still arrive. */
function answered(wire: Wire, host: string, request: WireRequest, sending: Sending): Promise<WireAnswer> {
  const { signal, abortError, timeoutMs, resetError } = sending
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal))
    const timer = timeoutMs ? setTimeout(() => end(() => reject(timeoutError(timeoutMs))), timeoutMs) : undefined
    const abort = () => end(() => reject(abortError(signal as AbortSignal)))
    signal?.addEventListener('abort', abort, { once: true })
    let isEnded = false
    wire.send(host, request, (ending: Ending) =>
      end(() => (ending.kind === 'answered' ? resolve(ending.answer) : reject(resetError()))),
    )

    function end(settle: () => void): void {
      if (isEnded) return
      isEnded = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      settle()
    }
  })
}

function timeoutError(timeoutMs: number): Error {
  const message = `a request has exceeded the configured ${timeoutMs} ms requestTimeout.`
  return Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' })
}

function abortErrorOf({ reason }: AbortSignal): Error {
  return Object.assign(new Error('Request aborted', { cause: reason }), { name: 'AbortError' })
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  const lower: Record<string, string> = {}
  for (const name in headers) lower[name.toLowerCase()] = headers[name] ?? ''
  return lower
}

/** Every body is text; a stream would need turns of the real event loop. */
function textOf(body: unknown): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  throw new TypeError(`Expected a body of text or bytes, got ${Object.prototype.toString.call(body)}`)
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (text !== '') controller.enqueue(Buffer.from(text, 'utf8'))
      controller.close()
    },
  })
}
