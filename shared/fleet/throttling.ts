/** Parking: how long a throttled model is left alone, since when a review waits for it, and when it is given up. Pure. */
import { MODEL_CLOSED_JITTER, MODEL_CLOSED_MAX_MS, MODEL_CLOSED_PART } from '../base/limits.ts'
import type { Review } from '../runs/review.ts'
import type { Reason, Run } from '../runs/run.ts'
import { modelOfPool } from './pools.ts'
import type { Closing } from './schedule.ts'
import type { Timings } from './timings.ts'

/** What a worker makes of its model's being throttled. Times are ms UTC. */
export interface Throttled {
  /** Since when this review has been throttled. */
  readonly since: number
  /** Until when nothing is granted in its pool. */
  readonly until: number
  /** True if its patience is over. */
  readonly isGivenUp: boolean
}

/**
 * The pool is closed for as long as the model asked (`afterMs`), and for a third of the time that it has been throttled already:
 * so a model that goes on like that is asked less and less often, within MODEL_CLOSED_MAX_MS. `random` is from 0 to 1.
 */
export function throttledOf(
  review: Pick<Review, 'throttledSince'>,
  answer: { readonly afterMs: number; readonly now: number; readonly random: number },
  { closedMinMs, patienceMs }: Pick<Timings, 'closedMinMs' | 'patienceMs'>,
): Throttled {
  const { afterMs, now, random } = answer
  const since = review.throttledSince ?? now
  const backOffMs = Math.min(Math.max(closedMinMs, (now - since) * MODEL_CLOSED_PART), MODEL_CLOSED_MAX_MS)
  const waitMs = Math.max(afterMs, backOffMs) * (1 + MODEL_CLOSED_JITTER * random)
  return { since, until: Math.ceil(now + waitMs), isGivenUp: now - since >= patienceMs }
}

/**
 * Since when a waiting review has been parked, ms UTC: since its pool was closed, or since its run is there if that is later.
 * A review that was throttled before is parked since then, also where others opened the pool meanwhile.
 */
export function parkedSince(
  review: Pick<Review, 'throttledSince'>,
  run: Pick<Run, 'acceptedAt'>,
  closing: Pick<Closing, 'since'>,
): number {
  return Math.min(review.throttledSince ?? Infinity, Math.max(closing.since, run.acceptedAt))
}

/** Why a review of this pool was given up. */
export function impatience(pool: string, patienceMs: number): Reason {
  const minutes = Math.round(patienceMs / 60_000)
  const sentence = `${modelOfPool(pool) ?? pool} has asked for patience for longer than the ${minutes} min that this deployment has.`
  return { code: 'model_throttled', sentence }
}
