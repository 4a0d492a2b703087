/** Accepting a run and starting its execution, for whoever asks for a review outside of a webhook. */
import { startExecution } from '../aws/executions.ts'
import type { Log } from '../aws/log.ts'
import { nameOf } from '../base/errors.ts'
import { failpoint } from '../base/failpoints.ts'
import { type Accepted, acceptRun, readRun } from '../ledger/run.ts'
import { isWorthAnotherAttempt, type Run, type RunRequest, requestAgain } from '../runs/run.ts'
import type { Coordinator } from './coordinator.ts'

export interface StartDeps extends Coordinator {
  readonly stateMachineArn: string
  readonly log: Log
}

/** Recording a request may take this long, ms. */
const ACCEPT_MS = 8_000

/**
 * Writes the run of a request, or joins the one that is there, and starts its execution. `askedId` names the asking: the
 * same one again changes nothing and answers the run (I9). An execution that can't be started now is started by the sweeper.
 */
export async function startRun(deps: StartDeps, request: RunRequest, askedId: string): Promise<Accepted> {
  const { ledger, executions, stateMachineArn, now, nonce, log } = deps
  const signal = AbortSignal.timeout(ACCEPT_MS)
  const accepted = await acceptRun(ledger, request, { deliveryId: askedId, writer: nonce(), now: now(), signal })
  const { kind, run } = accepted
  if (kind === 'conflict' || run.state !== 'accepted') return accepted
  FAILPOINT: await failpoint('start_run.recorded')
  try {
    await startExecution(executions, stateMachineArn, run)
  } catch (error) {
    log.warn('The execution was not started; the sweeper will', { runId: run.runId, error: nameOf(error) })
  }
  return accepted
}

/** What asking for another attempt came to. */
export interface Retried {
  readonly kind: Accepted['kind'] | 'nothing_missing'
  readonly run: Run
}

/**
 * Another attempt of a run that didn't read everything, which a person waits for: reviews that were completed are reused, and
 * only what is missing is read and said (LE9, LE16). A live run is joined; one that read everything is left alone. Undefined
 * if there is no such run.
 */
export async function retryRun(deps: StartDeps, runId: string, askedId: string): Promise<Retried | undefined> {
  const run = await readRun(deps.ledger, runId)
  if (!run) return undefined
  if (!isWorthAnotherAttempt(run) && !run.deliveries.includes(askedId)) return { kind: 'nothing_missing', run }
  return startRun(deps, { ...requestAgain(run), askedBy: 'person' }, askedId)
}
