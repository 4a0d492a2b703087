/** The stand-in's API, whoever carries the requests: finds the route, goes through the layers, remembers what was asked. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Authentication } from './authentication.ts'
import { type Answer, type Call, type Layer, notFound, Refusal, type Route } from './http.ts'
import type { RandomSource } from './random-source.ts'
import { type Encoded, encode } from './response.ts'

/** A request as it comes in. */
export interface Incoming {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  /** May throw a refusal. */
  readBody(): Promise<Buffer>
}

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

export interface Api {
  /**
   * The answer, and the same as it goes over the wire. Waits for nothing but the routes: where their repositories are in
   * memory, it is settled by microtasks alone. Rejects where the stand-in itself fails.
   */
  answer(request: Incoming): Promise<{ result: Answer; encoded: Encoded }>
  /** The last requests, oldest first. */
  requests(): readonly RecordedRequest[]
  /** Tells of every exchange from now on, before its answer goes out. What the listener throws is told to the client as a 500. */
  observe(listener: (exchange: Exchange) => void): void
}

/** So many requests are remembered; a run of the whole system makes some dozens. */
const REQUESTS_REMEMBERED_MAX = 10_000

const GITHUB_ENTERPRISE_PREFIX = '/api/v3'

/** `layers` are gone through from the first to the last; the route comes after them. */
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

/** Refusals become answers; everything else stays an error, because it is one of the stand-in itself. */
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

/** `:number` and `:id` take digits only; `:name` one segment; `*name` the rest, with its slashes. */
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
