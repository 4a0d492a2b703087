/** Plan: claims the pull request for a run, reads it, and stores which lens reads which files. Once for an attempt. */
import { randomUUID } from 'node:crypto'
import { environment, optionalEnvironment, timings } from '../../shared/aws/environment.ts'
import { openExecutions, stateMachineArnOf } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { Refused } from '../../shared/base/errors.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { openApp } from '../../shared/github/app.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { inputOf, type PlanAnswer, planInput } from '../../shared/runs/contract.ts'
import { afterFailure } from './core/after-failure.ts'
import type { RoomDeps } from './deps.ts'
import { planRun } from './plan-run.ts'
import { answerReplay } from './store-plan.ts'
import { answer, answerUnclaimed, answerWait } from './without-plan.ts'

const modelUrl = optionalEnvironment('MODEL_BASE_URL')
const container: Omit<RoomDeps, 'stateMachineArn'> = {
  ledger: openLedger(environment('TABLE_NAME'), timings()),
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  outbox: openQueue(environment('OUTBOX_URL')),
  openInstallation: openApp(openSecret(environment('GITHUB_APP_SECRET_ID')), environment('GITHUB_API_URL')),
  deploymentModel: modelUrl ? { baseUrl: modelUrl, model: optionalEnvironment('MODEL_DEFAULT') } : undefined,
  now: Date.now,
  nonce: randomUUID,
  log: openLog('plan'),
}

/**
 * Throws `retry` while GitHub doesn't show the pull request or its head yet, or doesn't answer: the machine calls
 * again. Answers `wait` while a limit of GitHub stands, so that no room calls into the limit.
 */
export async function handler(input: unknown): Promise<PlanAnswer> {
  const { runId, attempt, execution, startedAt } = inputOf(planInput, input)
  const deps: RoomDeps = { ...container, stateMachineArn: stateMachineArnOf(execution) }
  const run = await readRun(deps.ledger, runId)
  if (!run) throw new Refused('unknown_run', 'There is no such run.', 'Comment /muster review on the pull request.')
  if (run.attempt !== attempt || run.state === 'ended' || run.state === 'ending') return answer('superseded')
  if (run.state === 'held') return answer('held')
  if (run.plan) return answerReplay(deps, run, run.plan)
  try {
    return await planRun(deps, run)
  } catch (error) {
    const next = afterFailure(error, startedAt, deps.now())
    if (next.kind === 'throw') throw error
    return next.kind === 'wait' ? answerWait(deps, run, next.afterMs) : answerUnclaimed(deps, run, next)
  }
}
