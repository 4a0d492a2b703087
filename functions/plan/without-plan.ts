/** Answers for a run without a plan: the run ends, is held, or waits for GitHub. */
import { failpoint } from '../../shared/base/failpoints.ts'
import { finishEnding } from '../../shared/coordinator/ending.ts'
import { holdBehind, holdForHalt } from '../../shared/coordinator/hold.ts'
import { reviveHead } from '../../shared/coordinator/revive.ts'
import { closeBudget } from '../../shared/ledger/budget.ts'
import { beginEnding } from '../../shared/ledger/run.ts'
import type { PlanAnswer } from '../../shared/runs/contract.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { Claim } from './claim-pull-request.ts'
import type { RoomDeps } from './deps.ts'

export function answer(outcome: PlanAnswer['outcome']): PlanAnswer {
  return { outcome, ceiling: 1, reviews: [], adjudication: '' }
}

/** Closes the budget of the installation for `afterMs`: no room calls GitHub until then. */
export async function answerWait({ ledger, now, log }: RoomDeps, run: Run, afterMs: number): Promise<PlanAnswer> {
  await closeBudget(ledger, run.repository.installationId, now() + afterMs)
  log.info('A plan waits for GitHub', { runId: run.runId, attempt: run.attempt, code: 'github_throttled' })
  return answer('wait')
}

export async function answerUnclaimed(
  deps: RoomDeps,
  run: Run,
  claim: Extract<Claim, { kind: 'halted' | 'waits' | 'end' }>,
): Promise<PlanAnswer> {
  const { ledger, now, log } = deps
  const code = claim.kind === 'end' ? claim.reason.code : claim.kind === 'halted' ? 'halted' : 'attempt_waits'
  log.info('Not planned', { runId: run.runId, attempt: run.attempt, outcome: claim.kind, code })
  if (claim.kind !== 'end') {
    const isHeld = await (claim.kind === 'halted' ? holdForHalt(deps, run) : holdBehind(deps, run, claim.behind))
    return answer(isHeld ? 'held' : 'superseded')
  }
  const { outcome, reason, shown } = claim
  if (await beginEnding(ledger, run, { outcome, reason, asOf: run.eventAt, now: now() })) {
    FAILPOINT: await failpoint('plan.ending_begun')
    // This answer ends the execution of the run.
    await finishEnding({ ...deps, keepExecution: true }, run.runId)
  }
  if (shown !== undefined) await reviveHead(deps, run, shown)
  return answer(outcome === 'failed' ? 'failed' : 'superseded')
}
