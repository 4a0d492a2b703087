/** Accepts a run and starts its execution, for a request outside of a webhook. */
import { startExecution } from '../aws/executions.ts'
import type { Log } from '../aws/log.ts'
import { nameOf } from '../base/errors.ts'
import { failpoint } from '../base/failpoints.ts'
import { RUN_ACCEPTED_MS } from '../base/limits.ts'
import { type Accepted, acceptRun, readRun } from '../ledger/run.ts'
import { isWorthAnotherAttempt, type Run, type RunRequest, requestAgain } from '../runs/run.ts'
import type { Coordinator } from './coordinator.ts'

export interface StartDeps extends Coordinator {
  readonly stateMachineArn: string
  readonly log: Log
}

/**
 * Writes or joins the run of a request, and starts its execution. `askedId` names the request: the same name again changes
 * nothing and returns the run (I9). The sweeper starts an execution that can't be started now.
 */
export async function startRun(deps: StartDeps, request: RunRequest, askedId: string): Promise<Accepted> {
  const { ledger, now, nonce } = deps
  const signal = AbortSignal.timeout(RUN_ACCEPTED_MS)
  const accepted = await acceptRun(ledger, request, { deliveryId: askedId, writer: nonce(), now: now(), signal })
  const { kind, run } = accepted
  if (kind === 'conflict' || run.state !== 'accepted') return accepted
  FAILPOINT: await failpoint('start_run.recorded')
  await startAccepted(deps, run)
  return accepted
}

/** Starts the execution of an accepted run. Never rejects: the sweeper starts an execution that did not start (LE4). */
export async function startAccepted(
  { executions, stateMachineArn, log }: Pick<StartDeps, 'executions' | 'stateMachineArn' | 'log'>,
  run: Run,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await startExecution(executions, stateMachineArn, run, signal)
  } catch (error) {
    log.warn('The execution was not started; the sweeper will', { runId: run.runId, error: nameOf(error) })
  }
}

/** The effect of asking for another attempt. */
export interface Retried {
  readonly kind: Accepted['kind'] | 'nothing_missing'
  readonly run: Run
}

/**
 * Asks, on behalf of a waiting person, for another attempt of an incomplete run: completed reviews are reused, and only missing
 * reviews are read and said (LE9, LE16). A live run is joined; a complete run is left alone. Undefined for an unknown run.
 */
export async function retryRun(deps: StartDeps, runId: string, askedId: string): Promise<Retried | undefined> {
  const run = await readRun(deps.ledger, runId)
  if (!run) return undefined
  if (!isWorthAnotherAttempt(run) && !run.deliveries.includes(askedId)) return { kind: 'nothing_missing', run }
  return startRun(deps, { ...requestAgain(run), askedBy: 'person' }, askedId)
}
