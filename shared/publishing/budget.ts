/**
 * What an installation may still create on GitHub: its creations of the last minute and of the last hour are counted, and
 * kept below GitHub's own limits (AW76). Pure.
 */
import { CONTENT_PER_HOUR_MAX, CONTENT_PER_MINUTE_MAX } from '../base/limits.ts'

/** Creations of one stretch of a window. */
export interface Bucket {
  /** ms UTC */
  readonly from: number
  readonly count: number
}

/** Buckets of each window, oldest first; those that have left it are gone. */
export interface Budget {
  readonly minute: readonly Bucket[]
  readonly hour: readonly Bucket[]
  /** Until when GitHub has said that it takes nothing, ms UTC. */
  readonly closedUntil?: number
}

export const UNUSED_BUDGET: Budget = { minute: [], hour: [] }

export type Taken =
  | { readonly state: 'taken'; readonly budget: Budget }
  /** Nothing is left; at `until` (ms UTC) there is, if nobody else was quicker. */
  | { readonly state: 'spent'; readonly until: number }

interface Window {
  readonly lengthMs: number
  readonly max: number
}

const MINUTE: Window = { lengthMs: 60_000, max: CONTENT_PER_MINUTE_MAX }
const HOUR: Window = { lengthMs: 3_600_000, max: CONTENT_PER_HOUR_MAX }

/** Buckets a window is cut into: few enough for a small item, and a creation counts at most a twelfth too long. */
const BUCKETS_PER_WINDOW = 12

/**
 * Takes `count` creations at `now` (ms UTC), all or none. However they are spread, no minute ever has more than CONTENT_PER_MINUTE_MAX of
 * them and no hour more than CONTENT_PER_HOUR_MAX; and nothing while it is closed. A clock that is behind the one that wrote last counts as that one.
 */
export function takeFrom(budget: Budget, now: number, count = 1): Taken {
  const { closedUntil = 0 } = budget
  if (closedUntil > now) return { state: 'spent', until: closedUntil }
  const minute = countIn(MINUTE, budget.minute, { now, count })
  const hour = countIn(HOUR, budget.hour, { now, count })
  if (minute.until > now || hour.until > now) return { state: 'spent', until: Math.max(minute.until, hour.until) }
  return { state: 'taken', budget: { ...budget, minute: minute.buckets, hour: hour.buckets } }
}

/** The buckets with `count` creations more; or `until` in the future, when enough of them will have left. */
function countIn({ lengthMs, max }: Window, buckets: readonly Bucket[], taking: { now: number; count: number }) {
  const { now, count: more } = taking
  const bucketMs = lengthMs / BUCKETS_PER_WINDOW
  const at = Math.max(now, buckets.at(-1)?.from ?? now)
  // A bucket leaves when the last of its creations does.
  const leavesAt = ({ from }: Bucket) => from + bucketMs + lengthMs
  const counted = buckets.filter((bucket) => leavesAt(bucket) > at)

  let left = counted.reduce((sum, { count }) => sum + count, 0)
  let until = now
  for (const bucket of counted) {
    if (left + more <= max) break
    left -= bucket.count
    until = leavesAt(bucket)
  }

  const from = at - (at % bucketMs)
  const newest = counted.at(-1)
  const taken =
    newest?.from === from
      ? [...counted.slice(0, -1), { from, count: newest.count + more }]
      : [...counted, { from, count: more }]
  return { buckets: taken, until }
}
