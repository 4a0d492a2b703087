/** Ends a run for what GitHub shows of its pull request: the sweeper finishes the ending. */
import { reviveHead } from '../../shared/coordinator/revive.ts'
import { beginEnding } from '../../shared/ledger/run.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import type { Reason, Run } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'

/** It was closed at `eventAt` (ms UTC), and its event is late or was lost: this run ends as that would have ended it (L4). */
export async function endClosed({ ledger, now }: PostDeps, run: Run, eventAt = Infinity): Promise<void> {
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  await beginEnding(ledger, run, { outcome: 'closed', reason, eventAt, now: now() })
}

/**
 * GitHub shows another head, whose own run may not have begun: this one ends, and the sweeper finishes its ending (PR2). Where
 * that head's run was superseded by this one, it is asked for again.
 */
export async function endSuperseded(
  deps: PostDeps,
  run: Run,
  pullRequest: PullRequestShown | undefined,
): Promise<void> {
  const { ledger, now } = deps
  const reason: Reason = { code: 'head_superseded', sentence: 'GitHub shows a newer head.' }
  await beginEnding(ledger, run, { outcome: 'superseded', reason, asOf: run.eventAt, now: now() })
  if (pullRequest !== undefined) await reviveHead(deps, run, pullRequest)
}
