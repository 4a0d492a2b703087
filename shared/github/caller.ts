/** One call to GitHub: signed, with a deadline, strictly parsed. A read may be asked twice, a write never (AW74). */
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import type { Endpoints } from '@octokit/types'
import { GITHUB_ANSWER_BYTES_MAX, GITHUB_CALL_MS, GITHUB_SECOND_TRY_MIN_MS } from '../base/limits.ts'
import type { SignJwt, TokenMemory } from './credentials.ts'
import {
  type CallName,
  type FailedAnswer,
  failureOf,
  sentenceOfBody,
  transportReason,
  unreachable,
} from './failures.ts'
import type { Repo } from './github.ts'

export type Route = keyof Endpoints
export type Parameters<R extends Route> = Omit<Endpoints[R]['parameters'], 'headers' | 'request' | 'baseUrl'>
/** Octokit types ids as possible bigints; here they are parsed as numbers, and ids of GitHub are far below 2^53. */
export type Data<R extends Route> = Endpoints[R]['response']['data']

export interface Success<R extends Route> {
  readonly state: 'success'
  readonly data: Data<R>
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A status that the caller expects, with GitHub's sentence. */
export interface Expected {
  readonly state: 'expected'
  readonly status: number
  readonly sentence: string
}

export interface TooLarge {
  readonly state: 'too_large'
}

/** Calls GitHub for one installation. Throws only the failures of shared/github/github.ts. */
export interface Caller {
  call<R extends Route>(route: R, parameters: Parameters<R>): Promise<Success<R>>
  /** As `call`, with `statuses` as answers and not as failures. A limit is a failure whatever its status. */
  callExpecting<R extends Route>(
    route: R,
    parameters: Parameters<R>,
    statuses: readonly number[],
  ): Promise<Success<R> | Expected>
  /** As `call`, but an answer of more than `bytesMax` is `too_large` and not held in memory. */
  callBounded<R extends Route>(
    route: R,
    parameters: Parameters<R>,
    statuses: readonly number[],
    bytesMax: number,
  ): Promise<Success<R> | Expected | TooLarge>
}

export interface Connection {
  readonly baseUrl: string
  readonly appId: number
  readonly installationId: number
  readonly signJwt: SignJwt
  readonly tokens: TokenMemory
  readonly now: () => number
  /** Ends every call of the caller early. */
  readonly signal: AbortSignal | undefined
}

/** The version of GitHub's REST API; a newer version may drop members that are read here. */
const API_VERSION = '2022-11-28'
const USER_AGENT = 'muster'

/** Octokit's own request for an installation token. */
const TOKEN_REQUEST: CallName = { route: 'POST /app/installations/{installation_id}/access_tokens', writes: false }

/** A repository in the parameters of a route. */
export function inRepo({ owner, name }: Repo): { readonly owner: string; readonly repo: string } {
  return { owner, repo: name }
}

/** A caller over Octokit, which renews tokens, corrects a wrong clock once, and waits out a token's first seconds. */
export function createCaller(connection: Connection): Caller {
  const octokit = openOctokit(connection)

  /** Rejects with Octokit's own error. */
  async function once<R extends Route>(
    route: R,
    parameters: Parameters<R>,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Success<R> | TooLarge> {
    const { data: body, headers } = await octokit.request(route as string, {
      ...wellFormed(parameters),
      headers: { 'x-github-api-version': API_VERSION },
      request: { signal, parseSuccessResponseBody: false },
    })
    const bytes = await readUpTo(bytesMax, body)
    if (bytes === undefined) return { state: 'too_large' }
    // Octokit would answer the text of a body that stops half-way as if the text were the data.
    const data = bytes.length === 0 ? undefined : wellFormed(JSON.parse(bytes.toString('utf8')))
    return { state: 'success', data: data as Data<R>, headers: headers as Success<R>['headers'] }
  }

  async function ask<R extends Route>(
    route: R,
    parameters: Parameters<R>,
    statuses: readonly number[],
    bytesMax: number,
  ): Promise<Success<R> | Expected | TooLarge> {
    const name = nameOf(route)
    const startedAt = performance.now()
    const deadline = AbortSignal.timeout(GITHUB_CALL_MS)
    const signal = connection.signal === undefined ? deadline : AbortSignal.any([deadline, connection.signal])
    const hasTime = () => !signal.aborted && performance.now() - startedAt <= GITHUB_CALL_MS - GITHUB_SECOND_TRY_MIN_MS

    for (let tries = 1; ; tries += 1) {
      try {
        return await endedBy(signal, once(route, parameters, bytesMax, signal))
      } catch (error) {
        // A failed token request asked nothing of GitHub yet: its 404 is no missing file, and its 502 no unknown write.
        const asked = isTokenRequest(error) ? TOKEN_REQUEST : name
        const answer = answerOf(error)
        const failure = answer ? failureOf(answer, asked, connection.now()) : unreachable(asked, transportReason(error))
        if (failure.code === 'github_throttled') throw failure
        if (answer && asked === name && statuses.includes(answer.status)) {
          return { state: 'expected', status: answer.status, sentence: sentenceOfBody(answer.body) }
        }
        // A 401 did nothing, so a write may be asked again too: perhaps the token was revoked before its time.
        const isUnauthorized = answer?.status === 401
        const mayPass = isUnauthorized || (!name.writes && (answer === undefined || answer.status >= 500))
        if (tries > 1 || !mayPass || !hasTime()) throw failure
        if (isUnauthorized) connection.tokens.delete(String(connection.installationId))
      }
    }
  }

  return {
    async call(route, parameters) {
      const answer = await ask(route, parameters, [], GITHUB_ANSWER_BYTES_MAX)
      if (answer.state === 'success') return answer
      throw unreachable(nameOf(route), 'its answer is too large')
    },
    async callExpecting(route, parameters, statuses) {
      const answer = await ask(route, parameters, statuses, GITHUB_ANSWER_BYTES_MAX)
      if (answer.state !== 'too_large') return answer
      throw unreachable(nameOf(route), 'its answer is too large')
    },
    callBounded: ask,
  }
}

function openOctokit({ baseUrl, appId, installationId, signJwt, tokens }: Connection): Octokit {
  const silent = () => undefined // Octokit's own warnings go to the console; our errors carry a code
  return new Octokit({
    baseUrl,
    userAgent: USER_AGENT,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    authStrategy: createAppAuth,
    auth: { appId, installationId, createJwt: signJwt, cache: tokens, log: { warn: silent } },
    request: { fetch: fetchWithin },
  })
}

/** Gives Octokit's own token requests a deadline: the caller's signal doesn't reach them. */
const fetchWithin: typeof fetch = (input, init) => {
  const deadline = AbortSignal.timeout(GITHUB_CALL_MS)
  const signal = init?.signal ? AbortSignal.any([deadline, init.signal]) : deadline
  return fetch(input, { ...init, signal })
}

/** `work`, or a rejection as soon as `signal` aborts: Octokit ignores signals while it waits for a fresh token. */
async function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The bytes of a body; undefined, without reading the rest, for more than `bytesMax`. */
async function readUpTo(bytesMax: number, body: unknown): Promise<Buffer | undefined> {
  if (!(body instanceof ReadableStream)) return Buffer.alloc(0) // a 204 has no body
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    bytes += chunk.length
    if (bytes > bytesMax) return undefined // leaving the loop cancels the stream
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function nameOf(route: Route): CallName {
  return { route, writes: !route.startsWith('GET ') }
}

function isTokenRequest(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('request' in error)) return false
  const { request } = error as { request?: { url?: string } }
  return request?.url?.endsWith('/access_tokens') ?? false
}

/** GitHub's answer inside an error of Octokit; undefined without one. Compared by shape, never by class (AW25). */
function answerOf(error: unknown): FailedAnswer | undefined {
  if (typeof error !== 'object' || error === null || !('response' in error)) return undefined
  const { response } = error as { response?: { status: number; headers: Record<string, string>; data: unknown } }
  return response && { status: response.status, headers: response.headers, body: wellFormed(response.data) }
}

/** The value with every string well-formed: a lone surrogate reaches neither our stores nor GitHub (RC9). */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, wellFormed(member)])) as T
}
