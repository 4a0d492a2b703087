/** What the closing of a pull request means for its thread. Pure. */
import type { ClosedEvent } from '../../../shared/runs/event.ts'
import type { Reason, RunOutcome } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** A run that is to end, at its attempt, and how. */
export interface RunToEnd {
  readonly runId: string
  readonly attempt: number
  readonly outcome: RunOutcome
  readonly reason: Reason
  /** It was seen open in the second of its closing: which came last is to be asked of GitHub. */
  readonly asksAgain: boolean
}

/**
 * The run to end; undefined if there is none, if it is of a later event (closed, then reopened), or if GitHub showed the pull
 * request open since, whoever has asked for it and whether its reopening was heard of or not (D3).
 */
export function runToEnd({ eventAt }: Pick<ClosedEvent, 'eventAt'>, thread: Thread | undefined): RunToEnd | undefined {
  const live = thread?.liveRun
  if (!live) return undefined
  const { runId, attempt, openAt = 0 } = live
  if (Math.max(live.eventAt, openAt) > eventAt) return undefined
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  return { runId, attempt, outcome: 'closed', reason, asksAgain: openAt === eventAt }
}
