/** An installation's budget of creations on GitHub, per minute and hour, below GitHub's own limits (AW76). Pure. */
import * as z from 'zod'
import { CONTENT_PER_HOUR_MAX, CONTENT_PER_MINUTE_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'

/** Creations of one part of a window. */
const bucketSchema = z.object({
  /** ms UTC */
  from: z.number(),
  count: z.number(),
})
export type Bucket = Stored<typeof bucketSchema>

/** Buckets of each window, oldest first, without those that have left the window. */
export const budgetSchema = z.object({
  minute: z.array(bucketSchema),
  hour: z.array(bucketSchema),
  /** GitHub takes nothing until then, ms UTC. */
  closedUntil: z.number().exactOptional(),
})
export type Budget = Stored<typeof budgetSchema>

export const UNUSED_BUDGET: Budget = { minute: [], hour: [] }

export type Taken =
  | { readonly state: 'taken'; readonly budget: Budget }
  /** Nothing is left until `until` (ms UTC); another poster may take the budget first. */
  | { readonly state: 'spent'; readonly until: number }

interface Window {
  readonly lengthMs: number
  readonly max: number
}

const MINUTE: Window = { lengthMs: 60_000, max: CONTENT_PER_MINUTE_MAX }
const HOUR: Window = { lengthMs: 3_600_000, max: CONTENT_PER_HOUR_MAX }

/** Few buckets make a small item, and a creation counts a twelfth of the window too long at most. */
const BUCKETS_PER_WINDOW = 12

/**
 * Takes `count` creations at `now` (ms UTC), all or none. However they are spread, no minute has more than
 * CONTENT_PER_MINUTE_MAX and no hour more than CONTENT_PER_HOUR_MAX. A clock behind the last writer's counts as that one.
 */
export function takeFrom(budget: Budget, now: number, count = 1): Taken {
  const { closedUntil = 0 } = budget
  if (closedUntil > now) return { state: 'spent', until: closedUntil }
  const minute = countIn(MINUTE, budget.minute, { now, count })
  const hour = countIn(HOUR, budget.hour, { now, count })
  if (minute.until > now || hour.until > now) return { state: 'spent', until: Math.max(minute.until, hour.until) }
  return { state: 'taken', budget: { ...budget, minute: minute.buckets, hour: hour.buckets } }
}

/** The buckets with `count` creations more; or `until` in the future, when enough creations have left the window. */
function countIn({ lengthMs, max }: Window, buckets: readonly Bucket[], taking: { now: number; count: number }) {
  const { now, count: more } = taking
  const bucketMs = lengthMs / BUCKETS_PER_WINDOW
  const at = Math.max(now, buckets.at(-1)?.from ?? now)
  // A bucket leaves the window with the last of its creations.
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
  const open = counted.find((bucket) => bucket.from === from)
  const others = counted.filter((bucket) => bucket !== open)
  return { buckets: [...others, { from, count: more + (open?.count ?? 0) }], until }
}
