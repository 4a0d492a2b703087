/** Claims the pull request for a run: from then on this run, and no other, may speak for it. */
import { Retry } from '../../shared/base/errors.ts'
import type { PullRequest } from '../../shared/github/github.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { contended } from '../../shared/ledger/table.ts'
import { readThread, writeClaim } from '../../shared/ledger/thread.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import { isLive, type Reason, type Run, type RunOutcome } from '../../shared/runs/run.ts'
import { claim, seenOpen, type Thread } from '../../shared/runs/thread.ts'
import { pullRequestState } from './core/pull-request-state.ts'
import type { PlanDeps } from './deps.ts'

export type Claim =
  | {
      readonly kind: 'claimed'
      readonly run: Run
      readonly thread: Thread
      readonly pullRequest: PullRequest
      readonly ends: string | undefined
    }
  | { readonly kind: 'halted' }
  /** An edited description doesn't cut short the review of its head: it waits until that run has ended. */
  | { readonly kind: 'waits'; readonly behind: string }
  /** By another call of this attempt, whose plan it is. */
  | { readonly kind: 'planned'; readonly run: Run; readonly plan: string }
  | { readonly kind: 'held' }
  | {
      readonly kind: 'end'
      readonly outcome: RunOutcome
      readonly reason: Reason
      /** The pull request as GitHub shows it, with another head. */
      readonly shown?: PullRequestShown
    }

/** In this order: the thread's version, then GitHub, then the transaction on that version (DESIGN §4: claim). */
export async function claimPullRequest(deps: PlanDeps, run: Run): Promise<Claim> {
  const { ledger, github } = deps
  return contended<Claim>(async () => {
    const now = deps.now()
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    // Another call of Plan was faster: one that Step Functions has taken for failed may go on.
    if (current.state === 'held') return { kind: 'held' }
    if (current.plan !== undefined) return { kind: 'planned', run: current, plan: current.plan }
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')

    const pullRequest = await github.pullRequest(run.repository, run.number)
    const seen = pullRequestState(pullRequest, current, now)
    if (seen.kind === 'wait')
      throw new Retry('head_not_visible', `GitHub doesn't show ${run.head.slice(0, 7)} as it is yet.`, 5_000)
    if (seen.kind === 'superseded') return { ...overtaken(`the head ${seen.by.slice(0, 7)}`), shown: pullRequest }
    if (seen.kind === 'closed') {
      return ends('closed', { code: 'pull_request_closed', sentence: 'The pull request is closed.' })
    }
    if (seen.kind === 'failed') {
      return ends('failed', { code: 'head_not_visible', sentence: 'GitHub did not show this head in time.' })
    }
    const before = decision.ends === undefined ? undefined : await readRun(ledger, decision.ends)
    if (run.kind === 'analyzers' && before && before.head === run.head && isLive(before.state)) {
      return { kind: 'waits', behind: before.runId }
    }
    const next = seenOpen(decision.thread, pullRequest.updatedAt)
    const moved = await writeClaim(ledger, {
      thread,
      next,
      entry: decision.entry,
      run: current,
      ends: before && isLive(before.state) ? before : undefined,
      now,
    })
    if (moved === 'again') return 'again'
    if (moved === 'halted') return { kind: 'halted' }
    const version = (thread?.version ?? 0) + 1
    return {
      kind: 'claimed',
      run: { ...current, state: 'running', version: current.version + 1 },
      thread: { ...next, version },
      pullRequest,
      ends: before && before.state !== 'ended' ? before.runId : undefined,
    }
  })
}

function overtaken(by: string): Extract<Claim, { kind: 'end' }> {
  return ends('superseded', { code: 'head_superseded', sentence: `Overtaken by ${by}.` })
}

function ends(outcome: RunOutcome, reason: Reason): Extract<Claim, { kind: 'end' }> {
  return { kind: 'end', outcome, reason }
}
