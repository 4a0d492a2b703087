/**
 * What an installation may still create on GitHub: its creations of the last minute and of the last hour are counted, and
 * kept below GitHub's own limits (AW76). Pure.
 */
import * as z from 'zod'
import { CONTENT_PER_HOUR_MAX, CONTENT_PER_MINUTE_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'

/** Creations of one stretch of a window. */
const bucketSchema = z.object({
  /** ms UTC */
  from: z.number(),
  count: z.number(),
})
export type Bucket = Stored<typeof bucketSchema>

/** Slots of each window, oldest first; those that have left it are gone. */
export const budgetSchema = z.object({
  minute: z.array(bucketSchema),
  hour: z.array(bucketSchema),
  /** Until when GitHub has said that it takes nothing, ms UTC. */
  closedUntil: z.number().exactOptional(),
})
export type Budget = Stored<typeof budgetSchema>

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

/** Slots a window is cut into: few enough for a small item, and a creation counts at most a twelfth too long. */
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
  return { state: 'taken', budget: { ...budget, minute: minute.slots, hour: hour.slots } }
}

/** The slots with `count` creations more; or `until` in the future, when enough of them will have left. */
function countIn({ lengthMs, max }: Window, slots: readonly Bucket[], taking: { now: number; count: number }) {
  const { now, count: more } = taking
  const slotMs = lengthMs / BUCKETS_PER_WINDOW
  const at = Math.max(now, slots.at(-1)?.from ?? now)
  // A slot leaves when the last of its creations does.
  const leavesAt = ({ from }: Bucket) => from + slotMs + lengthMs
  const counted = slots.filter((slot) => leavesAt(slot) > at)

  let left = counted.reduce((sum, { count }) => sum + count, 0)
  let until = now
  for (const slot of counted) {
    if (left + more <= max) break
    left -= slot.count
    until = leavesAt(slot)
  }

  const from = at - (at % slotMs)
  const newest = counted.at(-1)
  const taken =
    newest?.from === from
      ? [...counted.slice(0, -1), { from, count: newest.count + more }]
      : [...counted, { from, count: more }]
  return { slots: taken, until }
}
