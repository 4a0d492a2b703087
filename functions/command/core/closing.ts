/** The effect of a closed pull request on its thread. Pure. */
import type { ClosedEvent } from '../../../shared/runs/event.ts'
import type { Reason, RunOutcome } from '../../../shared/runs/run.ts'
import type { Thread } from '../../../shared/runs/thread.ts'

/** The run to end, at its attempt, with its outcome. */
export interface RunToEnd {
  readonly runId: string
  readonly attempt: number
  readonly outcome: RunOutcome
  readonly reason: Reason
  /** GitHub showed the pull request open in the second of its closing: GitHub is asked again. */
  readonly asksAgain: boolean
}

/**
 * The run to end. Undefined without a live run, for a run of a later event (closed, then reopened), and if GitHub showed the
 * pull request open at a later claim, even by a reopening without a webhook (D3).
 */
export function runToEnd({ eventAt }: Pick<ClosedEvent, 'eventAt'>, thread: Thread | undefined): RunToEnd | undefined {
  const live = thread?.liveRun
  if (!live) return undefined
  const { runId, attempt, openAt = 0 } = live
  if (Math.max(live.eventAt, openAt) > eventAt) return undefined
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  return { runId, attempt, outcome: 'closed', reason, asksAgain: openAt === eventAt }
}
