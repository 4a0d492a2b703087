/** A run as the API shows it: state, reviews and conclusion, but no token. Pure. */

import type { Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'

export interface RunView {
  readonly run: string
  readonly repository: string
  readonly number: number
  readonly head: string
  readonly cause: string
  readonly kind: Run['kind']
  readonly attempt: number
  readonly state: Run['state']
  readonly outcome?: Run['outcome']
  readonly reason?: Run['reason']
  readonly verdict?: string
  readonly reviews: readonly ReviewView[]
  readonly conclusion?: Conclusion
}

export interface ReviewView {
  readonly lens: string
  readonly part: number
  readonly state: Review['state']
  readonly findings?: number
  readonly reason?: Review['reason']
}

/** A run in short: its state and its outcome. */
export function stateOf(run: Run): Pick<RunView, 'run' | 'attempt' | 'state' | 'outcome' | 'reason'> {
  return {
    run: run.runId,
    attempt: run.attempt,
    state: run.state,
    ...(run.outcome ? { outcome: run.outcome } : {}),
    ...(run.reason ? { reason: run.reason } : {}),
  }
}

/** The view of a run with the reviews of its attempt. */
export function viewOf(run: Run, reviews: readonly Review[], conclusion: Conclusion | undefined): RunView {
  const { owner, name } = run.repository
  return {
    ...stateOf(run),
    repository: `${owner}/${name}`,
    number: run.number,
    head: run.head,
    cause: run.cause,
    kind: run.kind,
    ...(run.verdict ? { verdict: run.verdict } : {}),
    reviews: reviews.map(({ lens, part, state, findings, reason }) => ({
      lens,
      part,
      state,
      ...(findings === undefined ? {} : { findings }),
      ...(reason ? { reason } : {}),
    })),
    ...(conclusion ? { conclusion } : {}),
  }
}
