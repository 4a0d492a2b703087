/** POST /github/webhook: verify the exact bytes, record what is asked for, start or nudge, answer. No call to GitHub (AW11). */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions, startExecution } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { nudge, openQueue } from '../../shared/aws/queue.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { isFailure, nameOf, Refused } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import type { HttpAnswer } from '../../shared/base/http-answer.ts'
import { CONTRACT, WEBHOOK_BUDGET_MS } from '../../shared/base/limits.ts'
import { appSecretOf } from '../../shared/github/app-secret.ts'
import { isSigned } from '../../shared/github/signature.ts'
import { acceptEvent } from '../../shared/ledger/event.ts'
import { acceptRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import type { PullRequestEvent } from '../../shared/runs/event.ts'
import type { RunRequest } from '../../shared/runs/run.ts'
import { accepted, refusal } from './core/answer.ts'
import { decide, HANDLED_EVENTS } from './core/delivery.ts'
import { type Delivery, deliveryOf, type HttpRequest } from './core/request.ts'

const log = openLog('webhook')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const executions = openExecutions()
const inbox = openQueue(environment('INBOX_URL'))
const appSecret = openSecret(environment('GITHUB_APP_SECRET_ID'))
const stateMachineArn = environment('STATE_MACHINE_ARN')

/** Answers one delivery within WEBHOOK_BUDGET_MS. What it can't record is answered 5xx: GitHub shows it as failed. */
export async function handler(request: HttpRequest): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(WEBHOOK_BUDGET_MS)
  try {
    const delivery = deliveryOf(request)
    if (!HANDLED_EVENTS.includes(delivery.event)) return ignored(delivery, `event_not_handled:${delivery.event}`)
    await verify(delivery, request.isBase64Encoded, signal)
    const decision = decide(delivery.event, delivery.body)
    if (decision.kind === 'ignored') return ignored(delivery, decision.reason)
    return decision.kind === 'run'
      ? await startRun(decision.request, delivery, signal)
      : await passOn(decision.event, delivery, signal)
  } catch (error) {
    if (isFailure(error, 'refused')) return refusal(error)
    log.error('The delivery could not be recorded', { error: nameOf(error) })
    if (isFailure(error, 'retry') || signal.aborted) return refusal(busy())
    throw error // unknown: 5xx, so that alarms and redelivery work (AW13)
  }
}

async function startRun(request: RunRequest, delivery: Delivery, signal: AbortSignal): Promise<HttpAnswer> {
  const { kind, run } = await acceptRun(ledger, request, {
    deliveryId: delivery.id,
    writer: randomUUID(),
    now: Date.now(),
    signal,
  })
  if (kind === 'conflict') throw conflict()
  FAILPOINT: await failpoint('webhook.run_recorded')
  if (run.state === 'accepted') await startOrLeaveToSweeper(run, signal)
  log.info('Delivery accepted', { deliveryId: delivery.id, runId: run.runId, attempt: run.attempt, outcome: kind })
  return accepted({ status: kind, run: run.runId, attempt: run.attempt, state: run.state })
}

/** The run is recorded: whatever goes wrong from here on, the sweeper starts it (LE4). */
async function startOrLeaveToSweeper(run: Parameters<typeof startExecution>[2], signal: AbortSignal): Promise<void> {
  try {
    await startExecution(executions, stateMachineArn, run, signal)
  } catch (error) {
    log.warn('The execution was not started; the sweeper will', { runId: run.runId, error: nameOf(error) })
  }
}

async function passOn(event: PullRequestEvent, delivery: Delivery, signal: AbortSignal): Promise<HttpAnswer> {
  const recorded = await acceptEvent(ledger, event, { writer: randomUUID(), now: Date.now(), signal })
  if (recorded === 'conflict') throw conflict()
  FAILPOINT: await failpoint('webhook.event_recorded')
  const { repository, number, cause } = event
  try {
    await nudge(inbox, { contract: CONTRACT, repositoryId: repository.id, number, cause }, randomUUID(), signal)
  } catch (error) {
    log.warn('The inbox was not nudged; the sweeper will', { deliveryId: delivery.id, error: nameOf(error) })
  }
  return accepted({ status: recorded, event: `${delivery.event}.${event.kind}` })
}

function ignored(delivery: Delivery, reason: string): HttpAnswer {
  log.info('Delivery ignored', { deliveryId: delivery.id, outcome: reason })
  return accepted({ status: 'ignored', reason })
}

/** Throws Refused 401 for a missing or wrong signature. A mismatch reads the secret once more: it may have been rotated. */
async function verify(delivery: Delivery, base64: boolean, signal: AbortSignal): Promise<void> {
  const remedy = 'Use the same webhook secret in the GitHub App and in the stack’s secret.'
  if (delivery.signature === undefined) {
    throw new Refused('signature_missing', 'X-Hub-Signature-256 is missing.', remedy)
  }
  for (const secret of [() => appSecret.read(Date.now(), signal), () => appSecret.refresh(Date.now(), signal)]) {
    const { text, version } = await secret()
    if (await isSigned(appSecretOf(text).webhookSecrets, delivery.body, delivery.signature)) return
    log.warn('A signature did not match', {
      deliveryId: delivery.id,
      bytes: delivery.bodyBytes,
      contentType: delivery.contentType,
      base64,
      signaturePresent: true,
      secretVersion: version,
    })
  }
  throw new Refused('signature_mismatch', 'The signature is not that of this body under a secret of ours.', remedy)
}

function conflict() {
  const sentence = 'This cause is known with another payload.'
  return new Refused('idempotency_conflict', sentence, 'Use a new key, or the same payload.')
}

function busy() {
  return new Refused(
    'busy',
    'The delivery could not be recorded in time.',
    'Redeliver it in the App’s settings, under Advanced.',
  )
}
