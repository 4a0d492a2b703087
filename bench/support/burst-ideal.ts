/** The ideal end of a burst, if only readings took time, and the bound by GitHub's budgets alone. Pure. */
import { CONTENT_PER_HOUR_MAX, CONTENT_PER_MINUTE_MAX } from '../../shared/base/limits.ts'

/** The reading of one review. */
export interface Work {
  /** The number of its pull request, in the order of their opening. */
  readonly pull: number
  readonly isModel: boolean
  readonly durationMs: number
}

export interface Window {
  readonly from: number
  readonly to: number
}

/**
 * ms until each pull request is read, if its readings begin, in the order of the pull requests, as soon as a slot is
 * free and, for readings with the model, the model is not throttled. The ideal scheduler knows everything, and no
 * worker dies.
 */
export function idealEnds(work: readonly Work[], slots: number, throttled: readonly Window[]): number[] {
  const freeAt = Array.from({ length: slots }, () => 0)
  const ends = new Map<number, number>()
  for (const { pull, isModel, durationMs } of work.toSorted((one, other) => one.pull - other.pull)) {
    const slot = freeAt.indexOf(Math.min(...freeAt))
    const at = freeAt[slot] ?? 0
    const window = isModel ? throttled.find(({ from, to }) => from <= at && at < to) : undefined
    const end = (window?.to ?? at) + durationMs
    freeAt[slot] = end
    ends.set(pull, Math.max(end, ends.get(pull) ?? 0))
  }
  return [...ends.values()]
}

/** ms until one installation has created this much content at GitHub, by the budgets of a minute and of an hour. */
export function budgetMs(created: number): number {
  const wholeHours = Math.floor((created - 1) / CONTENT_PER_HOUR_MAX)
  const wholeMinutes = Math.floor((created - 1 - wholeHours * CONTENT_PER_HOUR_MAX) / CONTENT_PER_MINUTE_MAX)
  return wholeHours * 3_600_000 + wholeMinutes * 60_000
}
