/** Parking: the closing of a throttled model's pool, the beginning of a review's patience, and its end. Pure. */
import { MODEL_CLOSED_JITTER, MODEL_CLOSED_MAX_MS, MODEL_CLOSED_PART } from '../base/limits.ts'
import type { Review } from '../runs/review.ts'
import type { Reason, Run } from '../runs/run.ts'
import { modelOfPool } from './pools.ts'
import type { Closing } from './schedule.ts'
import type { Timings } from './timings.ts'

/** The consequences of a throttled model for its worker. Times are ms UTC. */
export interface Throttled {
  /** The first throttle of the review. */
  readonly since: number
  /** The end of the pool's closing. */
  readonly until: number
  /** True if the review's patience is over. */
  readonly isGivenUp: boolean
}

/**
 * The pool is closed for as long as the model asked (`afterMs`), or for a third of the time since the first throttle, whichever
 * is longer: a model throttled for long is asked less and less often, within MODEL_CLOSED_MAX_MS. `random` is from 0 to 1.
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
 * The beginning of a waiting review's patience, ms UTC: the closing of its pool, or the acceptance of its run if later. A
 * review throttled before is parked since its first throttle, even if the pool was open in between.
 */
export function parkedSince(
  review: Pick<Review, 'throttledSince'>,
  run: Pick<Run, 'acceptedAt'>,
  closing: Pick<Closing, 'since'>,
): number {
  return Math.min(review.throttledSince ?? Infinity, Math.max(closing.since, run.acceptedAt))
}

/** Why a review of the pool was given up. */
export function impatience(pool: string, patienceMs: number): Reason {
  const minutes = Math.round(patienceMs / 60_000)
  const sentence = `${modelOfPool(pool) ?? pool} was throttled for longer than the ${minutes} min of this deployment’s patience.`
  return { code: 'model_throttled', sentence }
}
