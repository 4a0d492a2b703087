/** The head on GitHub compared with a run's head; GitHub's API may lag behind its own webhooks and writes. Pure. */
import { HEAD_VISIBLE_WITHIN_MS } from '../base/limits.ts'
import type { Run } from './run.ts'

/** The pull request as shown by GitHub; `updatedAt` in ms UTC. */
export interface PullRequestShown {
  readonly head: { readonly sha: string }
  readonly state: string
  readonly updatedAt: number
}

export type HeadVisibility =
  | 'live'
  /** Another head, of a later event, or of the same second when the time to wait is over: the run has been overtaken. */
  | 'moved'
  /** An earlier view: neither its head nor the absence of a head proves anything. */
  | 'not_yet'
  /** Still an earlier view when the time to wait is over. */
  | 'not_in_time'

/** The meaning, for a run, of GitHub's head at `now` (ms UTC). A view lags by less than HEAD_VISIBLE_WITHIN_MS. */
export function headVisibility(
  shown: Pick<PullRequestShown, 'head' | 'updatedAt'>,
  run: Pick<Run, 'head' | 'eventAt' | 'acceptedAt'>,
  now: number,
): HeadVisibility {
  if (shown.head.sha === run.head) return 'live'
  if (shown.updatedAt > run.eventAt) return 'moved'
  if (now - run.acceptedAt < HEAD_VISIBLE_WITHIN_MS) return 'not_yet'
  return shown.updatedAt === run.eventAt ? 'moved' : 'not_in_time'
}
