/**
 * The closed set of failures between rooms. Each `name` is a literal, because Step Functions matches on names and a
 * minified class has none. Compare by `name`, never by `instanceof`: two copies of a class may be bundled (AW25).
 */

/** Every stable code. docs/errors.md has the table with remedies. */
export type ErrorCode =
  // requests
  | 'malformed_body'
  | 'malformed_headers'
  | 'unsupported_media_type'
  | 'body_too_large'
  | 'signature_missing'
  | 'signature_mismatch'
  | 'payload_invalid'
  | 'identity_missing'
  | 'idempotency_conflict'
  | 'busy'
  | 'unknown_route'
  | 'unknown_scope'
  | 'unknown_halt'
  // runs
  | 'unknown_run'
  | 'contract_unknown'
  | 'head_not_visible'
  | 'head_superseded'
  | 'attempt_waits'
  | 'claim_contended'
  | 'halted'
  | 'halts_full'
  | 'pull_request_closed'
  | 'cancelled'
  | 'execution_failed'
  | 'plan_missing'
  | 'due_unknown'
  // reviews
  | 'unknown_review'
  | 'lease_held'
  | 'lease_lost_too_often'
  | 'outcome_conflict'
  | 'deadline_too_near'
  | 'lens_failed'
  | 'model_not_configured'
  | 'model_refused'
  | 'model_unreachable'
  | 'model_throttled'
  | 'model_quota_exhausted'
  | 'model_reply_cut'
  | 'model_reply_invalid'
  | 'analyzer_failed'
  // configuration
  | 'configuration_invalid'
  | 'configuration_unreadable'
  // limits
  | 'limits_invalid'
  | 'limit_above_ceiling'
  | 'limits_changed'
  // GitHub
  | 'github_refused'
  | 'github_unreachable'
  | 'github_throttled'
  | 'github_not_found'
  | 'not_shown'
  | 'post_failed'
  // documents and secrets
  | 'document_missing'
  | 'secret_missing'
  | 'environment_missing'

/** A failure with its stable code, a sentence for a person, and a remedy. */
abstract class Explained extends Error {
  readonly code: ErrorCode
  readonly remedy: string
  constructor(code: ErrorCode, sentence: string, remedy: string, options?: { cause?: unknown }) {
    super(`${code}: ${sentence}`, options)
    this.code = code
    this.remedy = remedy
  }
}

/** The caller's fault: the same call can't work later. */
export class Refused extends Explained {
  override readonly name = 'refused'
}

/** Never works: the thing is gone, or forbids the call for good. */
export class Dead extends Explained {
  override readonly name = 'dead'
}

/** May work later; `afterMs` is the earliest useful moment from now, in ms. */
export class Retry extends Explained {
  override readonly name = 'retry'
  readonly afterMs: number
  /** True if a change got no answer: it may have happened, so read before the next try (AW70). */
  readonly outcomeUnknown: boolean
  constructor(
    code: ErrorCode,
    sentence: string,
    afterMs: number,
    options?: { cause?: unknown; outcomeUnknown?: boolean },
  ) {
    super(code, sentence, 'Muster tries again by itself.', options)
    this.afterMs = afterMs
    this.outcomeUnknown = options?.outcomeUnknown ?? false
  }
}

/** Another worker holds the caller's review. Carries no payload (RC5). */
export class StaleFence extends Error {
  override readonly name = 'stale_fence'
  constructor() {
    super('stale_fence: another worker holds this review now')
  }
}

/** A live lease of another worker: tried again until the lease ends. */
export class LeaseHeld extends Error {
  override readonly name = 'lease_held'
  constructor() {
    super('lease_held: another worker holds a live lease on this review')
  }
}

type Failure = Refused | Retry | Dead | StaleFence | LeaseHeld

/** True for the failure with this name, from any copy of its class. */
export function isFailure<Name extends Failure['name']>(
  error: unknown,
  name: Name,
): error is Extract<Failure, { name: Name }> {
  return nameOf(error) === name
}

/** The `name` of anything thrown; `unknown` without a name. */
export function nameOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'name' in error && typeof error.name === 'string'
    ? error.name
    : 'unknown'
}

/** A sentence about anything thrown, without a stack. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
