/** Claims the pull request for a run: from then on only this run may speak for the pull request. */

import { Retry } from '../../shared/base/errors.ts'
import { CLAIM_RETRY_MS } from '../../shared/base/limits.ts'
import type { PullRequest } from '../../shared/github/github.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { contended } from '../../shared/ledger/table.ts'
import { readThread, writeClaim } from '../../shared/ledger/thread.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import { isLive, type Reason, type Run, type RunOutcome } from '../../shared/runs/run.ts'
import { claim, seenOpen, type Thread } from '../../shared/runs/thread.ts'
import { pullRequestState } from './core/pull-request-state.ts'
import type { PlanDeps } from './deps.ts'

export interface Claimed {
  readonly kind: 'claimed'
  readonly run: Run
  readonly thread: Thread
  readonly pullRequest: PullRequest
  readonly ends: string | undefined
}

interface EndClaim {
  readonly kind: 'end'
  readonly outcome: RunOutcome
  readonly reason: Reason
  /** The pull request as GitHub shows it, with another head. */
  readonly shown?: PullRequestShown
}

export type Claim =
  | Claimed
  | { readonly kind: 'halted' }
  /** A run for an edited description waits until the review of its head has ended. */
  | { readonly kind: 'waits'; readonly behind: string }
  /** Another call of this attempt has stored this plan. */
  | { readonly kind: 'planned'; readonly run: Run; readonly plan: string }
  | { readonly kind: 'held' }
  | EndClaim

/** The order matters: the thread's version, then GitHub, then the transaction on that version. */
export async function claimPullRequest(deps: PlanDeps, run: Run): Promise<Claim> {
  const { ledger, github } = deps
  return contended<Claim>(async () => {
    const now = deps.now()
    const thread = await readThread(ledger, run.repository.id, run.number)
    const current = await readRun(ledger, run.runId)
    if (!current || current.attempt !== run.attempt || !isLive(current.state)) return overtaken('another attempt')
    // Another call of Plan was faster: Step Functions may take a call for failed while it still runs.
    if (current.state === 'held') return { kind: 'held' }
    if (current.plan !== undefined) return { kind: 'planned', run: current, plan: current.plan }
    const decision = claim(thread, current, now)
    if (decision.kind === 'superseded') return overtaken('a later event')

    const pullRequest = await github.pullRequest(run.repository, run.number)
    const state = pullRequestState(pullRequest, current, now)
    if (state === 'not_yet') {
      throw new Retry('head_not_visible', `GitHub doesn't show the head ${run.head.slice(0, 7)} yet.`, CLAIM_RETRY_MS)
    }
    if (state === 'moved') return { ...overtaken(`the head ${pullRequest.head.sha.slice(0, 7)}`), shown: pullRequest }
    if (state === 'closed') {
      return endClaim('closed', { code: 'pull_request_closed', sentence: 'The pull request is closed.' })
    }
    if (state === 'not_in_time') {
      return endClaim('failed', { code: 'head_not_visible', sentence: 'GitHub did not show this head in time.' })
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

function overtaken(by: string): EndClaim {
  return endClaim('superseded', { code: 'head_superseded', sentence: `Overtaken by ${by}.` })
}

function endClaim(outcome: RunOutcome, reason: Reason): EndClaim {
  return { kind: 'end', outcome, reason }
}
