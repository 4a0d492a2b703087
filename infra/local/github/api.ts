/** The stand-in's API, over any carrier of requests: finds the route, passes the layers, remembers the requests. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Authentication } from './authentication.ts'
import { type Answer, type Call, type Layer, notFound, Refusal, type Route } from './http.ts'
import type { RandomSource } from './random-source.ts'
import { type Encoded, encode } from './response.ts'

/** A request on arrival. */
export interface Incoming {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  /** May throw a refusal. */
  readBody(): Promise<Buffer>
}

/** A request on record, for tests of the calls. */
export interface RecordedRequest {
  method: string
  path: string
  /** The route's pattern, e.g. `/repos/:owner/:repo/pulls/:number`; null for a request without a route. */
  route: string | null
  /**
   * The status of the answer; 0 if a fault kept the request from its route. The client may not have received the
   * answer.
   */
  status: number
  /** The fault that struck the request. */
  fault?: string
}

/** A request with its answer, whole, for checks of both. */
export interface Exchange extends RecordedRequest {
  url: URL
  request: { headers: IncomingHttpHeaders; body: Buffer }
  response: Encoded
}

export interface Api {
  /**
   * The answer, and its bytes on the wire. Waits for nothing but the routes: with repositories in memory, microtasks
   * alone settle the answer. Rejects for a failure of the stand-in itself.
   */
  answer(request: Incoming): Promise<{ result: Answer; encoded: Encoded }>
  /** The last requests, oldest first. */
  requests(): readonly RecordedRequest[]
  /**
   * Calls `listener` for every later exchange, before the answer goes out. An error of the listener is a 500 for the
   * client.
   */
  observe(listener: (exchange: Exchange) => void): void
}

/** The number of remembered requests; a run of the whole system makes some dozens. */
const REQUESTS_REMEMBERED_MAX = 10_000

const GITHUB_ENTERPRISE_PREFIX = '/api/v3'

/** A call passes `layers` from the first to the last, then the route. */
export function createApi(
  routes: readonly Route[],
  layers: readonly Layer[],
  authentication: Authentication,
  random: RandomSource,
  now: () => number,
): Api {
  const remembered: RecordedRequest[] = []
  const observers: ((exchange: Exchange) => void)[] = []

  return {
    async answer({ method, url, headers, readBody }) {
      const path = withoutPrefix(url.pathname)
      const match = find(routes, method, path)
      const route = match?.route.pattern ?? null
      let body: Buffer = Buffer.alloc(0)
      const result = await guarded(async () => {
        body = await readBody()
        const actor = authentication.identify(headers)
        const call: Call = { method, url, path, route, params: match?.params ?? {}, headers, body, actor, lagMs: 0 }
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
      const encoded = encode(result, random, now())
      for (const observer of observers) observer({ ...recorded, url, request: { headers, body }, response: encoded })
      return { result, encoded }
    },
    requests: () => remembered,
    observe: (listener) => void observers.push(listener),
  }
}

/** Refusals become answers; any other error stays an error, because it is a fault of the stand-in itself. */
async function guarded(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return error.answer()
    throw error
  }
}

function find(routes: readonly Route[], method: string, path: string) {
  for (const route of routes) {
    if (route.method !== method) continue
    const groups = expressionOf(route.pattern).exec(path)?.groups
    if (groups === undefined) continue
    const params = decoded(groups)
    if (params !== null) return { route, params }
  }
  return null
}

/** By pattern: the same for every stand-in of a process. */
const expressions = new Map<string, RegExp>()

/** `:number` and `:id` match digits only; `:name` one segment; `*name` the rest, with its slashes. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern)
  if (known !== undefined) return known
  const source = pattern
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:(number|id)\b/g, '(?<$1>\\d{1,19})')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replaceAll(/\*(\w+)/g, '(?<$1>.*)')
  const expression = new RegExp(`^(?<whole>${source})/?$`)
  expressions.set(pattern, expression)
  return expression
}

/** Null for malformed percent-encoded UTF-8: no route matches. */
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
