/** Plan: claim the pull request for this run, read it, and store what is to be read by whom. Once per attempt. */
import { randomUUID } from 'node:crypto'
import { environment, optionalEnvironment, timings } from '../../shared/aws/environment.ts'
import { openExecutions, stateMachineArnOf } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { isFailure, Refused, type Retry } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { PLAN_PATIENCE_MS } from '../../shared/base/limits.ts'
import { finishEnding } from '../../shared/coordinator/ending.ts'
import { holdBehind, holdForHalt } from '../../shared/coordinator/hold.ts'
import { reviveHead } from '../../shared/coordinator/revive.ts'
import { getDocument, openDocuments } from '../../shared/documents/documents.ts'
import { openApp } from '../../shared/github/app.ts'
import { whileNew } from '../../shared/github/while-new.ts'
import { closeBudget, closedUntil } from '../../shared/ledger/budget.ts'
import { beginEnding, readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { inputOf, type PlanAnswer, planInput } from '../../shared/runs/contract.ts'
import type { Run } from '../../shared/runs/run.ts'
import { planSchema } from '../../shared/verdict/plan.ts'
import { type Claimed, claimPullRequest } from './claim-pull-request.ts'
import { isOutOfPatience, throttledUntil } from './core/patience.ts'
import { answerPlanned, planClaimed } from './store-plan.ts'

const modelUrl = optionalEnvironment('MODEL_BASE_URL')
const deps = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  deploymentModel: modelUrl ? { baseUrl: modelUrl, model: optionalEnvironment('MODEL_DEFAULT') } : undefined,
  now: Date.now,
  nonce: randomUUID,
  log: openLog('plan'),
} as const
const openInstallation = openApp(openSecret(environment('GITHUB_APP_SECRET_ID')), environment('GITHUB_API_URL'))

const HOUR_MS = 3_600_000

type Ending = Parameters<typeof finishEnding>[0]

/**
 * Throws `retry` while GitHub doesn't show the pull request or its head yet, or can't be read: the machine asks again. Answers
 * `wait` while a limit of GitHub stands, so that nobody calls into it.
 */
export async function handler(input: unknown): Promise<PlanAnswer> {
  const { runId, attempt, execution, startedAt } = inputOf(planInput, input)
  const run = await readRun(deps.ledger, runId)
  if (!run) throw new Refused('unknown_run', 'There is no such run.', 'Comment /muster review on the pull request.')
  if (run.attempt !== attempt || run.state === 'ended' || run.state === 'ending') return ended('superseded')
  if (run.state === 'held') return ended('held')
  if (run.plan) return answerPlanned(deps, run, await getDocument(deps.documents, run.plan, planSchema), 'replay')

  const ending = { ...deps, stateMachineArn: stateMachineArnOf(execution) }
  try {
    return await planRun(run, ending)
  } catch (error) {
    if (isFailure(error, 'retry')) return await notNow(run, error, { ending, startedAt })
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    const reason = { code: error.code, sentence: `${error.message} ${error.remedy}` }
    return notPlanned(run, { kind: 'end', outcome: 'failed', reason }, ending)
  }
}

async function planRun(run: Run, ending: Ending): Promise<PlanAnswer> {
  const { installationId } = run.repository
  const closed = await closedUntil(deps.ledger, installationId, deps.now())
  if (closed !== undefined) throw throttledUntil(closed, deps.now())
  const github = whileNew(await openInstallation(installationId, deps.now()), run, deps.now)
  const claimed = await claimPullRequest({ ...deps, github }, run)
  if (claimed.kind === 'held') return ended('held')
  if (claimed.kind === 'planned') {
    return answerPlanned(deps, claimed.run, await getDocument(deps.documents, claimed.plan, planSchema), 'replay')
  }
  if (claimed.kind !== 'claimed') return notPlanned(run, claimed, ending)
  FAILPOINT: await failpoint('plan.claimed')
  if (claimed.ends) await finishEnding(ending, claimed.ends)
  FAILPOINT: await failpoint('plan.earlier_ended')
  return planClaimed({ ...deps, github }, claimed)
}

/** It may work later: GitHub's limit is kept, what else there is the machine tries again, until patience has an end. */
async function notNow(
  run: Run,
  why: Retry,
  { ending, startedAt }: { ending: Ending; startedAt: string | undefined },
): Promise<PlanAnswer> {
  const { ledger, now, log } = deps
  const { code, afterMs } = why
  if (isOutOfPatience(why, startedAt, now())) {
    const reason = {
      code,
      sentence: `${why.message} It has lasted for ${PLAN_PATIENCE_MS / HOUR_MS} hours. Comment /muster retry when it is over.`,
    }
    return notPlanned(run, { kind: 'end', outcome: 'failed', reason }, ending)
  }
  if (code !== 'github_throttled') throw why
  await closeBudget(ledger, run.repository.installationId, now() + afterMs)
  log.info('A plan waits for GitHub', { runId: run.runId, attempt: run.attempt, code })
  return ended('wait')
}

async function notPlanned(
  run: Run,
  why: Exclude<Claimed, { kind: 'claimed' | 'planned' | 'held' }>,
  ending: Ending,
): Promise<PlanAnswer> {
  const { ledger, now, log } = deps
  const code = why.kind === 'end' ? why.reason.code : why.kind === 'halted' ? 'halted' : 'attempt_waits'
  log.info('Not planned', { runId: run.runId, attempt: run.attempt, outcome: why.kind, code })
  if (why.kind !== 'end') {
    const held = await (why.kind === 'halted' ? holdForHalt(deps, run) : holdBehind(deps, run, why.behind))
    return ended(held ? 'held' : 'superseded')
  }
  const { outcome, reason } = why
  if (await beginEnding(ledger, run, { outcome, reason, asOf: run.eventAt, now: now() })) {
    FAILPOINT: await failpoint('plan.ending_begun')
    // Its own execution goes on to its end by this answer.
    await finishEnding({ ...ending, keepExecution: true }, run.runId)
  }
  if (why.shown !== undefined) await reviveHead(deps, run, why.shown)
  return ended(outcome === 'failed' ? 'failed' : 'superseded')
}

function ended(outcome: PlanAnswer['outcome']): PlanAnswer {
  return { outcome, ceiling: 1, reviews: [], adjudication: '' }
}
