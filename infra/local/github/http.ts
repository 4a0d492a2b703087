/** The calls and answers of routes, and GitHub's refusals. */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Account } from './records.ts'

/** The caller: unknown to GitHub, the App itself, or one of its installations. */
export type Actor =
  | { kind: 'nobody' }
  | { kind: 'app' }
  | { kind: 'installation'; installationId: number; account: Account }

/**
 * What breaks an answer on its way: `never` leaves the client waiting until the client gives up, `reset` cuts the
 * connection (RST) before the first byte, `truncated` ends a complete HTTP message half-way through its JSON.
 */
export type Interruption = 'never' | 'reset' | 'truncated'

export interface Call {
  method: string
  /** The whole requested address. */
  url: URL
  /** The address's path without `/api/v3`. */
  path: string
  /** The route's pattern; null if no route knows the address. */
  route: string | null
  /** Named parts of the route's pattern, decoded. */
  params: Record<string, string>
  headers: IncomingHttpHeaders
  body: Buffer
  actor: Actor
  /** The age of the state that the call reads, in ms; 0 for every write. */
  lagMs: number
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  /** Sent as JSON, unless `bytes` are given. */
  json?: unknown
  bytes?: Buffer
  contentType?: string
  interruption?: Interruption
  /** The fault that made this answer, or will break it. */
  fault?: string
}

export interface Route {
  method: string
  /** `/repos/:owner/:repo/contents/*path`: `:name` is one segment, `*name` is the rest. */
  pattern: string
  handle(call: Call): Answer | Promise<Answer>
}

/** A layer around every call: a layer may answer, change the answer, or act before and after the route. */
export type Layer = (call: Call, next: (call: Call) => Promise<Answer>) => Promise<Answer>

const DOCUMENTATION_URL = 'https://docs.github.com/rest'

/** A refusal of GitHub, thrown as an error. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly errors: readonly unknown[] | undefined
  readonly headers: Record<string, string>

  constructor(status: number, message: string, errors?: readonly unknown[], headers: Record<string, string> = {}) {
    super(message)
    this.status = status
    this.errors = errors
    this.headers = headers
  }

  answer(): Answer {
    return {
      status: this.status,
      headers: this.headers,
      json: {
        message: this.message,
        ...(this.errors === undefined ? {} : { errors: this.errors }),
        documentation_url: DOCUMENTATION_URL,
        status: String(this.status),
      },
    }
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found')
}

/** 422 that names the field, as GitHub's model validations do. */
export function invalidField(resource: string, field: string, message: string): Refusal {
  return new Refusal(422, 'Validation Failed', [{ resource, code: 'custom', field, message }])
}

/** 422 with sentences only, as GitHub answers for reviews. */
export function unprocessable(...sentences: string[]): Refusal {
  return new Refusal(422, 'Unprocessable Entity', sentences)
}

/** GitHub counts characters, not bytes: docs.github.com and its own message, "body is too long (maximum is 65536 characters)". */
export const BODY_CHARACTERS_MAX = 65_536

export function checkBodyLength(resource: string, body: string): void {
  if (isTooLong(body))
    throw invalidField(resource, 'body', `body is too long (maximum is ${BODY_CHARACTERS_MAX} characters)`)
}

/** The same limit, in the words of the routes of reviews. */
export function checkReviewBodyLength(body: string): void {
  if (isTooLong(body)) throw unprocessable(`Body is too long (maximum is ${BODY_CHARACTERS_MAX} characters)`)
}

function isTooLong(body: string): boolean {
  // A text has at most as many characters as UTF-16 units: most bodies need no count.
  return body.length > BODY_CHARACTERS_MAX && [...body].length > BODY_CHARACTERS_MAX
}

/** The call's JSON, checked. Unknown properties are ignored, as GitHub does. */
export function parseBody<T>(schema: z.ZodType<T>, call: Call): T {
  let value: unknown = {}
  if (call.body.length > 0) {
    try {
      value = JSON.parse(call.body.toString('utf8'))
    } catch (error) {
      if (error instanceof SyntaxError) throw new Refusal(400, 'Problems parsing JSON')
      throw error
    }
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Refusal(422, `Invalid request.\n\n${z.prettifyError(parsed.error)}`)
}

export function ok(json: unknown, headers?: Record<string, string>): Answer {
  return headers === undefined ? { status: 200, json } : { status: 200, json, headers }
}
