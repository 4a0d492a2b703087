/** Records the run or the event of a delivery, and answers 202 only after the write. */
import { randomUUID } from 'node:crypto'
import { type NudgeQueue, nudge } from '../../shared/aws/queue.ts'
import { nameOf, Refused } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { answer, type HttpAnswer } from '../../shared/base/http-answer.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { type StartDeps, startAccepted } from '../../shared/coordinator/start-run.ts'
import { acceptEvent } from '../../shared/ledger/event.ts'
import { acceptRun } from '../../shared/ledger/run.ts'
import type { PullRequestEvent } from '../../shared/runs/event.ts'
import type { RunRequest } from '../../shared/runs/run.ts'
import type { Delivery } from './core/request.ts'

export interface RecordDeps extends Pick<StartDeps, 'ledger' | 'executions' | 'stateMachineArn' | 'log'> {
  readonly inbox: NudgeQueue
}

/** Records the run and starts its execution. */
export async function recordRun(
  deps: RecordDeps,
  request: RunRequest,
  { id: deliveryId }: Delivery,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const options = { deliveryId, writer: randomUUID(), now: Date.now(), signal }
  const { kind, run } = await acceptRun(deps.ledger, request, options)
  if (kind === 'conflict') throw conflict()
  FAILPOINT: await failpoint('webhook.run_recorded')
  const { runId, attempt, state } = run
  if (state === 'accepted') await startAccepted(deps, run, signal)
  deps.log.info('Delivery accepted', { deliveryId, runId, attempt, outcome: kind })
  return answer(202, { status: kind, run: runId, attempt, state })
}

/** Records the event and nudges the command room; the sweeper nudges after a failed nudge. */
export async function recordEvent(
  { ledger, inbox, log }: RecordDeps,
  event: PullRequestEvent,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const status = await acceptEvent(ledger, event, { writer: randomUUID(), now: Date.now(), signal })
  if (status === 'conflict') throw conflict()
  FAILPOINT: await failpoint('webhook.event_recorded')
  const { repository, number, cause } = event
  try {
    await nudge(inbox, { contract: CONTRACT, repositoryId: repository.id, number, cause }, randomUUID(), signal)
  } catch (error) {
    log.warn('The inbox was not nudged; the sweeper will', { deliveryId: delivery.id, error: nameOf(error) })
  }
  return answer(202, { status, event: `${delivery.event}.${event.kind}` })
}

function conflict(): Refused {
  const sentence = 'The same cause was recorded with another payload.'
  return new Refused('idempotency_conflict', sentence, 'Use a new key, or the same payload.')
}
