/** A run in the form of Muster's API (`GET /runs/{runId}`), and its progress for people. Pure. */

import { LENS_NAMES } from '../shared/findings/lens.ts'
import type { ReviewLens, ReviewState } from '../shared/runs/review.ts'
import type { Reason, RunOutcome, RunState } from '../shared/runs/run.ts'
import type { Conclusion } from '../shared/verdict/conclusion.ts'

export interface RunView {
  readonly run: string
  readonly attempt: number
  readonly state: RunState
  readonly outcome?: RunOutcome
  readonly reason?: Reason
  readonly reviews: readonly ReviewView[]
  readonly conclusion?: Conclusion
}

export interface ReviewView {
  readonly lens: ReviewLens
  readonly part: number
  readonly state: ReviewState
  readonly findings?: number
  readonly reason?: Reason
}

/** A lens over all its parts. */
export interface LensProgress {
  readonly lens: ReviewLens
  readonly state: 'waiting' | 'reading' | 'read' | 'failed'
  readonly parts: number
  readonly partsDone: number
  readonly findings: number
  readonly reason?: string
}

/** The order of the list: the lenses in their own order, then the second reading. */
const ORDER: readonly string[] = [...LENS_NAMES, 'adjudication']

/** The lenses with reviews until now, always in the same order. */
export function lensesOf(reviews: readonly ReviewView[]): LensProgress[] {
  const byLens = [...Map.groupBy(reviews, ({ lens }) => lens)]
  byLens.sort(([one], [other]) => ORDER.indexOf(one) - ORDER.indexOf(other))
  return byLens.map(([lens, parts]) => {
    const done = parts.filter(({ state }) => state === 'completed' || state === 'failed' || state === 'ended')
    const failed = parts.find(({ state }) => state === 'failed')
    return {
      lens,
      state: stateOf(parts, done.length, failed !== undefined),
      parts: parts.length,
      partsDone: done.length,
      findings: parts.reduce((sum, { findings = 0 }) => sum + findings, 0),
      ...(failed?.reason ? { reason: failed.reason.sentence } : {}),
    }
  })
}

function stateOf(parts: readonly ReviewView[], done: number, hasFailed: boolean): LensProgress['state'] {
  if (done === parts.length) return hasFailed ? 'failed' : 'read'
  const isUnderWay = parts.some(({ state }) => state === 'granted' || state === 'leased')
  return isUnderWay || done > 0 ? 'reading' : 'waiting'
}
