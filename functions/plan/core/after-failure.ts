/** The next step of Plan after a failure. Pure. */
import { type ErrorCode, isFailure, Retry } from '../../../shared/base/errors.ts'
import { PLAN_PATIENCE_MS } from '../../../shared/base/limits.ts'
import type { Reason } from '../../../shared/runs/run.ts'

export type AfterFailure =
  | { readonly kind: 'end'; readonly outcome: 'failed'; readonly reason: Reason }
  /** GitHub has set a limit: no room calls GitHub for this installation until the limit ends. */
  | { readonly kind: 'wait'; readonly afterMs: number }
  /** Step Functions calls Plan again, or the execution fails. */
  | { readonly kind: 'throw' }

/** Failures that may last. A head has a shorter time to become visible; contention among rooms ends soon. */
const LASTING: readonly ErrorCode[] = ['github_throttled', 'github_unreachable', 'busy']

const HOUR_MS = 3_600_000

/** `startedAt` is the start of the execution (ISO 8601), undefined if unknown; `now` is ms UTC. */
export function afterFailure(error: unknown, startedAt: string | undefined, now: number): AfterFailure {
  if (isFailure(error, 'dead') || isFailure(error, 'refused')) return failed(error, error.remedy)
  if (!isFailure(error, 'retry')) return { kind: 'throw' }
  const { code, afterMs } = error
  if (LASTING.includes(code) && startedAt !== undefined && now - Date.parse(startedAt) >= PLAN_PATIENCE_MS) {
    const hours = PLAN_PATIENCE_MS / HOUR_MS
    return failed(error, `It has lasted for ${hours} hours. Comment /muster retry when GitHub answers again.`)
  }
  return code === 'github_throttled' ? { kind: 'wait', afterMs } : { kind: 'throw' }
}

/** The failure while a limit of GitHub lasts until `until`, ms UTC: the call isn't made. */
export function throttledUntil(until: number, now: number): Retry {
  return new Retry('github_throttled', 'GitHub takes no calls of this installation for now.', until - now)
}

function failed(
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  remedy: string,
): AfterFailure {
  return { kind: 'end', outcome: 'failed', reason: { code, sentence: `${message} ${remedy}` } }
}
