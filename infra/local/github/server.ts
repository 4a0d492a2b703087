/** The stand-in's HTTP side: reads a request whole, finds its route, goes through the layers, writes the answer. */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Authentication } from './authentication.ts'
import { type Answer, type Call, type Layer, notFound, Refusal, type Route } from './http.ts'
import { type Encoded, encode, send } from './sending.ts'

/** One request that came in, for whoever tests what was called. */
export interface RecordedRequest {
  method: string
  path: string
  /** The route's pattern, e.g. `/repos/:owner/:repo/pulls/:number`; null for a request that no route knows. */
  route: string | null
  /** What was decided; 0 where a fault kept the request from being worked on. The client needn't have got it. */
  status: number
  /** The fault that struck it. */
  fault?: string
}

/** One request with its answer, whole, for whoever checks both. */
export interface Exchange extends RecordedRequest {
  url: URL
  request: { headers: IncomingHttpHeaders; body: Buffer }
  response: Encoded
}

export interface ApiServer {
  listener: RequestListener
  /** The last requests, oldest first. */
  requests(): readonly RecordedRequest[]
  /** Tells of every exchange from now on, before its answer goes out. What the listener throws is told to the client as a 500. */
  observe(listener: (exchange: Exchange) => void): void
  /** Resolves when nothing is being worked on, also not for clients that have left. */
  settled(): Promise<void>
}

/** So many requests are remembered; a run of the whole system makes some dozens. */
const REQUESTS_REMEMBERED_MAX = 10_000

/** Larger bodies are 413; no call that GitHub accepts comes near, in bytes. */
const BODY_BYTES_MAX = 10 * 1_024 * 1_024

const GITHUB_ENTERPRISE_PREFIX = '/api/v3'

interface CompiledRoute {
  route: Route
  expression: RegExp
}

/** `layers` are gone through from the first to the last; the route comes after them. */
export function createApiServer(
  routes: readonly Route[],
  layers: readonly Layer[],
  authentication: Authentication,
  now: () => number,
): ApiServer {
  const compiled = routes.map((route) => ({ route, expression: expressionOf(route.pattern) }))
  const remembered: RecordedRequest[] = []
  const underway = new Set<Promise<void>>()
  const observers: ((exchange: Exchange) => void)[] = []

  async function answer(request: IncomingMessage): Promise<{ result: Answer; encoded: Encoded }> {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`)
    const method = request.method ?? 'GET'
    const path = withoutPrefix(url.pathname)
    const match = find(compiled, method, path)
    const route = match?.route.pattern ?? null
    let body: Buffer = Buffer.alloc(0)
    const result = await guarded(async () => {
      body = await readBody(request)
      const { headers } = request
      const actor = authentication.identify(headers)
      const call: Call = { method, url, path, route, params: match?.params ?? {}, headers, body, actor }
      const last = async (forwarded: Call): Promise<Answer> => {
        if (match === null) throw notFound()
        return match.route.handle(forwarded)
      }
      const whole = layers.reduceRight<(forwarded: Call) => Promise<Answer>>(
        (next, layer) => (forwarded) => layer(forwarded, (changed) => guarded(() => next(changed))),
        last,
      )
      return whole(call)
    })
    const { status, fault } = result
    const recorded = { method, path, route, status, ...(fault === undefined ? {} : { fault }) }
    remembered.push(recorded)
    if (remembered.length > REQUESTS_REMEMBERED_MAX) remembered.shift()
    const encoded = encode(result, now())
    for (const observer of observers) {
      observer({ ...recorded, url, request: { headers: request.headers, body }, response: encoded })
    }
    return { result, encoded }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { result, encoded } = await answer(request)
      send(response, encoded, result.sending)
    } catch (error) {
      if (request.errored !== null) return // the client left in the middle of its request: there is nobody to answer
      console.error('github stand-in: a request failed', error)
      send(response, encode({ status: 500, json: { message: 'Server Error' } }, now()))
    }
  }

  return {
    listener: (request, response) => {
      const responding = respond(request, response).finally(() => underway.delete(responding))
      underway.add(responding)
    },
    requests: () => remembered,
    observe: (listener) => void observers.push(listener),
    settled: async () => void (await Promise.all(underway)),
  }
}

/** Refusals become answers; everything else stays an error, because it is one of the stand-in itself. */
async function guarded(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return error.answer()
    throw error
  }
}

function find(routes: readonly CompiledRoute[], method: string, path: string) {
  for (const { route, expression } of routes) {
    if (route.method !== method) continue
    const groups = expression.exec(path)?.groups
    if (groups === undefined) continue
    const params = decoded(groups)
    if (params !== null) return { route, params }
  }
  return null
}

/** `:number` and `:id` take digits only; `:name` one segment; `*name` the rest, with its slashes. */
function expressionOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:(number|id)\b/g, '(?<$1>\\d{1,19})')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.*)')
  return new RegExp(`^(?<whole>${source})/?$`)
}

/** Null if something isn't well-formed percent-encoded UTF-8: no route knows that. */
function decoded(groups: Record<string, string>): Record<string, string> | null {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

function withoutPrefix(path: string): string {
  return path.startsWith(`${GITHUB_ENTERPRISE_PREFIX}/`) ? path.slice(GITHUB_ENTERPRISE_PREFIX.length) : path
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Refusal(413, 'Payload too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
