/** What the closing of a pull request means for its thread. Pure. */
import type { ClosedEvent } from '../../shared/event.ts'
import type { Reason, RunOutcome } from '../../shared/run.ts'
import type { Thread } from '../../shared/thread.ts'

/** The run to end, and how; undefined if there is none, or if it is of a later event (closed, then reopened). */
export function runToEnd(
  event: Pick<ClosedEvent, 'eventAt'>,
  thread: Thread | undefined,
): { runId: string; attempt: number; outcome: RunOutcome; reason: Reason } | undefined {
  const live = thread?.liveRun
  if (!live || live.eventAt > event.eventAt) return undefined
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  return { runId: live.runId, attempt: live.attempt, outcome: 'closed', reason }
}
