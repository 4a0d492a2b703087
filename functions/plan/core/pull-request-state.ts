/** Whether GitHub shows the head that the event named, and the pull request open (DESIGN §9). Pure. */

import { GITHUB_READ_BACK_MS } from '../../../shared/base/limits.ts'
import { headVisibility, type PullRequestShown } from '../../../shared/runs/head.ts'
import type { Run } from '../../../shared/runs/run.ts'

export type PullRequestState =
  | { readonly kind: 'live' }
  | { readonly kind: 'closed' }
  /** Another head, of a later event: this run has been overtaken. */
  | { readonly kind: 'superseded'; readonly by: string }
  /** The head, or that the pull request is open again, isn't visible yet: look again. */
  | { readonly kind: 'wait' }
  /** It has not become visible in time: the older head is never reviewed in its place (PL8). */
  | { readonly kind: 'failed' }

/** What the pull request, as GitHub shows it at `now` (ms UTC), means for a run. */
export function pullRequestState(
  shown: PullRequestShown,
  run: Pick<Run, 'head' | 'eventAt' | 'acceptedAt'>,
  now: number,
): PullRequestState {
  if (shown.state === 'closed' && shown.updatedAt > run.eventAt) return { kind: 'closed' }
  // Closed and reopened within one second: GitHub may be behind.
  if (shown.state === 'closed' && shown.updatedAt === run.eventAt) {
    return now - run.acceptedAt < GITHUB_READ_BACK_MS ? { kind: 'wait' } : { kind: 'closed' }
  }
  switch (headVisibility(shown, run, now)) {
    case 'live':
      return { kind: 'live' }
    case 'moved':
      return { kind: 'superseded', by: shown.head.sha }
    case 'not_yet':
      return { kind: 'wait' }
    case 'not_in_time':
      return { kind: 'failed' }
  }
}
