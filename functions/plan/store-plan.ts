/** Makes the plan of a claimed run, stores it once for its attempt, and shows the review in progress. */
import { nudge } from '../../shared/aws/queue.ts'
import { Retry } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONFLICT_RETRY_MS, CONTRACT, PLAN_REVIEWS_MAX } from '../../shared/base/limits.ts'
import { getDocument, putDocument } from '../../shared/documents/documents.ts'
import { effectiveOf } from '../../shared/fleet/ceiling.ts'
import { poolsOf } from '../../shared/fleet/pools.ts'
import { readFleet } from '../../shared/ledger/fleet.ts'
import type { Raise } from '../../shared/ledger/resource.ts'
import { writePlan } from '../../shared/ledger/run.ts'
import { inProgressCheckRun } from '../../shared/publishing/check-run.ts'
import type { LabelResource } from '../../shared/publishing/github-payloads.ts'
import type { PlanAnswer } from '../../shared/runs/contract.ts'
import { reviewIdOf } from '../../shared/runs/review.ts'
import type { Run } from '../../shared/runs/run.ts'
import { isRestated, type Plan, planSchema } from '../../shared/verdict/plan.ts'
import type { Claimed } from './claim-pull-request.ts'
import { makePlan } from './core/plan.ts'
import type { PlanDeps, RoomDeps } from './deps.ts'
import { gather, withTexts } from './gather.ts'

/** Throws Retry `claim_contended` if the run has changed since the claim: the next call decides anew. */
export async function planClaimed(deps: PlanDeps, claimed: Claimed): Promise<PlanAnswer> {
  const { ledger, documents, now, log } = deps
  const { run } = claimed
  const planWithoutTexts = makePlan(await gather(deps, claimed))
  const restated = isRestated(run, planWithoutTexts)
  const plan = restated ? planWithoutTexts : await withTexts(deps, planWithoutTexts)
  const digest = await putDocument(documents, plan)
  const wanted = restated ? [] : await inProgress(deps, run, plan)
  FAILPOINT: await failpoint('plan.stored')
  const { planKey } = plan
  const planned = await writePlan(ledger, run, { digest, planKey, pools: poolsOf(plan), wanted, now: now() })
  if (!planned) throw new Retry('claim_contended', 'The run changed while it was planned.', CONFLICT_RETRY_MS)
  FAILPOINT: await failpoint('plan.written')
  log.info('Planned', {
    runId: run.runId,
    attempt: run.attempt,
    outcome: restated ? 'shown' : plan.kind,
    count: plan.reviews.length,
  })
  return answerPlanned(deps, planned, plan, 'planned')
}

/** The answer for a run with a plan, whose digest is `plan`. */
export async function answerReplay(deps: RoomDeps, run: Run, plan: string): Promise<PlanAnswer> {
  return answerPlanned(deps, run, await getDocument(deps.documents, plan, planSchema), 'replay')
}

/** Repeatable. A verdict that stands already is shown again. */
async function answerPlanned(deps: RoomDeps, run: Run, plan: Plan, outcome: 'planned' | 'replay'): Promise<PlanAnswer> {
  const restated = isRestated(run, plan)
  if (!restated && run.state === 'running') {
    const { repository, number, runId } = run
    await nudge(deps.outbox, { contract: CONTRACT, repositoryId: repository.id, number, runId }, deps.nonce())
  }
  const { effective } = effectiveOf((await readFleet(deps.ledger)).limits)
  const name = { runId: run.runId, planKey: plan.planKey }
  return {
    outcome: restated ? 'shown' : outcome,
    ceiling: Math.max(1, Math.min(effective, PLAN_REVIEWS_MAX)),
    reviews: plan.reviews.map(({ lens, part }) => reviewIdOf({ ...name, lens, part })),
    adjudication: reviewIdOf({ ...name, lens: 'adjudication', part: 0 }),
  }
}

/** The check run and the label say "in progress" until there is a verdict (PR1). */
async function inProgress({ documents }: PlanDeps, run: Run, plan: Plan): Promise<Raise['wanted']> {
  const label: LabelResource = { kind: 'label', label: 'muster: checking' }
  const checkRun = inProgressCheckRun(run, [...new Set(plan.reviews.map(({ lens }) => lens))])
  return [
    { kind: 'check_run', key: run.head, document: await putDocument(documents, checkRun) },
    { kind: 'label', key: 'main', document: await putDocument(documents, label) },
  ]
}
