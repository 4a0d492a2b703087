/** Begins the end of a run when GitHub shows its pull request closed or at another head; the sweeper finishes it. */
import { reviveHead } from '../../shared/coordinator/revive.ts'
import { beginEnding } from '../../shared/ledger/run.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import type { Reason, Run } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'

/** The pull request was closed at `eventAt` (ms UTC), and the event is late or lost (L4). */
export async function endClosed({ ledger, now }: PostDeps, run: Run, eventAt = Infinity): Promise<void> {
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  await beginEnding(ledger, run, { outcome: 'closed', reason, eventAt, now: now() })
}

/** The pull request is at another head (PR2). A run of that head that this run superseded is asked for again. */
export async function endSuperseded(deps: PostDeps, run: Run, pullRequest?: PullRequestShown): Promise<void> {
  const { ledger, now } = deps
  const reason: Reason = { code: 'head_superseded', sentence: 'GitHub shows a newer head.' }
  await beginEnding(ledger, run, { outcome: 'superseded', reason, asOf: run.eventAt, now: now() })
  if (pullRequest !== undefined) await reviveHead(deps, run, pullRequest)
}
