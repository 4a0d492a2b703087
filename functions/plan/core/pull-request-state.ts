/** Whether GitHub shows the pull request open and at the head of the run's event. Pure. */
import { GITHUB_READ_BACK_MS } from '../../../shared/base/limits.ts'
import { type HeadVisibility, headVisibility, type PullRequestShown } from '../../../shared/runs/head.ts'
import type { Run } from '../../../shared/runs/run.ts'

/** `not_in_time` fails the run: an older head is never reviewed in its place (PL8). */
export type PullRequestState = HeadVisibility | 'closed'

/** The state of the pull request for a run, as GitHub shows it at `now` (ms UTC). */
export function pullRequestState(
  shown: PullRequestShown,
  run: Pick<Run, 'head' | 'eventAt' | 'acceptedAt'>,
  now: number,
): PullRequestState {
  if (shown.state === 'closed' && shown.updatedAt > run.eventAt) return 'closed'
  // Closed and reopened within one second: GitHub may lag behind the reopening.
  if (shown.state === 'closed' && shown.updatedAt === run.eventAt) {
    return now - run.acceptedAt < GITHUB_READ_BACK_MS ? 'not_yet' : 'closed'
  }
  return headVisibility(shown, run, now)
}
