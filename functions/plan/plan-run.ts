/** Plans a run: claims the pull request, ends the run before, and stores the plan. */
import { failpoint } from '../../shared/base/failpoints.ts'
import { finishEnding } from '../../shared/coordinator/ending.ts'
import { whileNew } from '../../shared/github/while-new.ts'
import { closedUntil } from '../../shared/ledger/budget.ts'
import type { PlanAnswer } from '../../shared/runs/contract.ts'
import type { Run } from '../../shared/runs/run.ts'
import { claimPullRequest } from './claim-pull-request.ts'
import { throttledUntil } from './core/after-failure.ts'
import type { RoomDeps } from './deps.ts'
import { answerReplay, planClaimed } from './store-plan.ts'
import { answer, answerUnclaimed } from './without-plan.ts'

export async function planRun(deps: RoomDeps, run: Run): Promise<PlanAnswer> {
  const { installationId } = run.repository
  const closed = await closedUntil(deps.ledger, installationId, deps.now())
  if (closed !== undefined) throw throttledUntil(closed, deps.now())
  const github = whileNew(await deps.openInstallation(installationId, deps.now()), run, deps.now)
  const claim = await claimPullRequest({ ...deps, github }, run)
  if (claim.kind === 'held') return answer('held')
  if (claim.kind === 'planned') return answerReplay(deps, claim.run, claim.plan)
  if (claim.kind !== 'claimed') return answerUnclaimed(deps, run, claim)
  FAILPOINT: await failpoint('plan.claimed')
  if (claim.ends) await finishEnding(deps, claim.ends)
  FAILPOINT: await failpoint('plan.earlier_ended')
  return planClaimed({ ...deps, github }, claim)
}
