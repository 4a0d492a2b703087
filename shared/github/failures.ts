/** GitHub's failures in the project's closed set, told apart by body and headers, not by status alone (R4, AW77). */
import { Dead, Retry, sentenceOf } from '../base/errors.ts'
import {
  GITHUB_ERROR_CHARS_MAX,
  GITHUB_SENTENCE_CHARS_MAX,
  GITHUB_THROTTLED_MS,
  GITHUB_UNREACHABLE_MS,
} from '../base/limits.ts'
import { redact } from '../base/redaction.ts'

/** An answer of GitHub without success. */
export interface FailedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Parsed JSON, or the text, or `''`. */
  readonly body: unknown
}

/** The call in words: `POST /repos/{owner}/{repo}/…`. Never an address with values, never a header. */
export interface CallName {
  readonly route: string
  readonly writes: boolean
}

/** GitHub's sentences about its secondary limits. */
const SECONDARY_LIMIT =
  /secondary rate limit|abuse detection|rate limit exceeded|too many requests|submitted too quickly/i

/** By status; other refusals have one remedy. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: "Check the App's id and private key, and that the App is still installed.",
  403: "Check the App's permissions on this repository.",
}

/** The failure of an answer. `nowMs` is needed for limits that end at a time. */
export function failureOf(answer: FailedAnswer, call: CallName, nowMs: number): Retry | Dead {
  const sentence = `GitHub answered ${answer.status} to ${call.route}: ${sentenceOfBody(answer.body)}`
  const throttledMs = throttledForMs(answer, nowMs)
  if (throttledMs !== undefined) return new Retry('github_throttled', sentence, throttledMs)
  if (answer.status >= 500) {
    return new Retry('github_unreachable', sentence, GITHUB_UNREACHABLE_MS, { outcomeUnknown: call.writes })
  }
  if (answer.status === 404 || answer.status === 410) {
    return new Dead(
      'github_not_found',
      sentence,
      'Check that the repository and the pull request exist and that the App is installed there.',
    )
  }
  const remedy = REMEDIES[answer.status] ?? 'GitHub does not accept this request; asking again will not help.'
  return new Dead('github_refused', sentence, remedy)
}

/** The failure without a usable answer: a timeout, a reset, an answer that stops half-way. */
export function unreachable(call: CallName, why: string): Retry {
  return new Retry(
    'github_unreachable',
    `${call.route} got no usable answer from GitHub (${why})${call.writes ? '; GitHub may have done it' : ''}`,
    GITHUB_UNREACHABLE_MS,
    { outcomeUnknown: call.writes },
  )
}

/** The reason of a failure below HTTP, without an address or a credential. */
export function transportReason(error: unknown): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'TimeoutError' || cause.name === 'AbortError') return 'no answer in time'
    if (cause.name === 'SyntaxError') return 'an answer of incomplete JSON' // its message would quote the answer
    if ('code' in cause && typeof cause.code === 'string') return cause.code
  }
  return sentenceFrom(sentenceOf(error))
}

/** GitHub's message with its list of errors, redacted, because errors may quote the request. */
export function sentenceOfBody(body: unknown): string {
  if (typeof body === 'string') return sentenceFrom(body)
  const { message, errors } = membersOf(body)
  const details = Array.isArray(errors)
    ? errors.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    : []
  return sentenceFrom([typeof message === 'string' ? message : 'no message', ...details].join('; '))
}

/** Redacted before the cut: half a secret has no recognisable shape. */
function sentenceFrom(text: string): string {
  return redact(text.slice(0, GITHUB_ERROR_CHARS_MAX)).slice(0, GITHUB_SENTENCE_CHARS_MAX)
}

/** The wait of a limit, ms; undefined for other failures. A 403 without a sign of a limit is a missing permission. */
function throttledForMs({ status, headers, body }: FailedAnswer, nowMs: number): number | undefined {
  const abuse = status === 422 && isAbuse(body)
  if (status !== 403 && status !== 429 && !abuse) return undefined

  const retryAfterMs = retryAfter(headers['retry-after'], nowMs)
  if (retryAfterMs !== undefined) return retryAfterMs
  if (headers['x-ratelimit-remaining'] === '0') {
    const resetAtMs = Number(headers['x-ratelimit-reset']) * 1000
    return Number.isFinite(resetAtMs) ? Math.max(1000, resetAtMs - nowMs) : GITHUB_THROTTLED_MS
  }
  return status === 429 || abuse || SECONDARY_LIMIT.test(sentenceOfBody(body)) ? GITHUB_THROTTLED_MS : undefined
}

/** `Retry-After` in seconds or as a date; undefined without the header. At least a second, so that no caller spins. */
function retryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const seconds = Number(header)
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(waitMs) ? Math.max(1000, waitMs) : GITHUB_THROTTLED_MS
}

/** GitHub answers review replies with 422 and `code: "abuse"` although quota is left. */
function isAbuse(body: unknown): boolean {
  const { code, errors } = membersOf(body)
  return code === 'abuse' || (Array.isArray(errors) && errors.some((one) => membersOf(one).code === 'abuse'))
}

function membersOf(value: unknown): { message?: unknown; errors?: unknown; code?: unknown } {
  return typeof value === 'object' && value !== null ? value : {}
}
