/** What the API tells about a run: enough to follow it and to read what it concluded, and no token. Pure. */
import type { Conclusion } from '../../shared/conclusion.ts'
import type { Review } from '../../shared/review.ts'
import type { Run } from '../../shared/run.ts'

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

const RUN_ID = /^[0-9a-f]{64}$/

/** The run id in a request's path; undefined if it is none. */
export function runIdIn(pathParameters: Readonly<Record<string, string | undefined>> | undefined): string | undefined {
  const id = pathParameters?.runId ?? ''
  return RUN_ID.test(id) ? id : undefined
}

/** The view of a run with the reviews of its attempt. */
export function viewOf(run: Run, reviews: readonly Review[], conclusion: Conclusion | undefined): RunView {
  const { owner, name } = run.repository
  return {
    run: run.runId,
    repository: `${owner}/${name}`,
    number: run.number,
    head: run.head,
    cause: run.cause,
    kind: run.kind,
    attempt: run.attempt,
    state: run.state,
    ...(run.outcome ? { outcome: run.outcome } : {}),
    ...(run.reason ? { reason: run.reason } : {}),
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
