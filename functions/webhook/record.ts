/** Records the run or the event of a delivery, and answers 202 only after the write. */
import { randomUUID } from 'node:crypto'
import { type Executions, startExecution } from '../../shared/aws/executions.ts'
import type { Log } from '../../shared/aws/log.ts'
import { type NudgeQueue, nudge } from '../../shared/aws/queue.ts'
import { nameOf, Refused } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { answer, type HttpAnswer } from '../../shared/base/http-answer.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { acceptEvent } from '../../shared/ledger/event.ts'
import { acceptRun } from '../../shared/ledger/run.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { PullRequestEvent } from '../../shared/runs/event.ts'
import type { RunRequest } from '../../shared/runs/run.ts'
import type { Delivery } from './core/request.ts'

export interface RecordDeps {
  readonly ledger: Ledger
  readonly executions: Executions
  readonly stateMachineArn: string
  readonly inbox: NudgeQueue
  readonly log: Log
}

/** Records the run and starts its execution; the sweeper starts an execution that did not start (LE4). */
export async function recordRun(
  { ledger, executions, stateMachineArn, log }: RecordDeps,
  request: RunRequest,
  { id: deliveryId }: Delivery,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const options = { deliveryId, writer: randomUUID(), now: Date.now(), signal }
  const { kind, run } = await acceptRun(ledger, request, options)
  if (kind === 'conflict') throw conflict()
  FAILPOINT: await failpoint('webhook.run_recorded')
  const { runId, attempt, state } = run
  if (state === 'accepted') {
    try {
      await startExecution(executions, stateMachineArn, run, signal)
    } catch (error) {
      log.warn('The execution was not started; the sweeper will', { runId, error: nameOf(error) })
    }
  }
  log.info('Delivery accepted', { deliveryId, runId, attempt, outcome: kind })
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
