/** Takes up a due run: starts, resumes, ends or fails it, or has post show what is owed. */
import {
  describeExecution,
  type ExecutionStatus,
  executionArnOf,
  startExecution,
  stopExecution,
} from '../../shared/aws/executions.ts'
import { finishEnding } from '../../shared/coordinator/ending.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { beginEnding, readRun, resumeRun } from '../../shared/ledger/run.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { isLive, type Reason, type Run } from '../../shared/runs/run.ts'
import { runActionOf } from './core/sweep.ts'
import type { SweepDeps } from './deps.ts'

const EXECUTION_FAILED: Reason = {
  code: 'execution_failed',
  sentence: 'Its execution ended without a verdict; the Step Functions console shows why.',
}

/** True if post is to be nudged, as something is still owed. */
export async function takeUpRun(deps: SweepDeps, due: Run): Promise<boolean> {
  const { ledger, executions, stateMachineArn, log, now } = deps
  const execution = await executionStatus(deps, due)
  // Read again after the execution's status: the run may have been written as held or done just before the execution
  // ended.
  const run = await readRun(ledger, due.runId)
  if (run?.version !== due.version) return false
  const action = runActionOf(run, execution, run.state === 'held' && (await mustWait(deps, run)))
  log.info('Run taken up', { runId: run.runId, attempt: run.attempt, outcome: `${run.state}:${action.kind}` })
  switch (action.kind) {
    case 'start':
      await startExecution(executions, stateMachineArn, run)
      return false
    case 'fail':
      await beginEnding(ledger, run, { outcome: 'failed', reason: EXECUTION_FAILED, now: now() })
      await finishEnding(deps, run.runId)
      return false
    case 'finish_ending':
      await finishEnding(deps, run.runId)
      return false
    case 'nudge':
      return !(await finishIfShown(deps, run.runId))
    case 'resume': {
      // A token may have stayed unanswered when the run was held; by now its review belongs to the next attempt's Admit.
      await stopExecution(executions, executionArnOf(stateMachineArn, run), 'held')
      const resumed = await resumeRun(ledger, run, now())
      if (resumed) await startExecution(executions, stateMachineArn, resumed)
      return false
    }
    case 'look_later':
      return false
  }
}

/** Read only for a run whose execution should be running. */
async function executionStatus(deps: SweepDeps, run: Run): Promise<ExecutionStatus['kind']> {
  if (run.state !== 'accepted' && run.state !== 'running') return 'running'
  return (await describeExecution(deps.executions, executionArnOf(deps.stateMachineArn, run))).kind
}

/** True while the halt still stands, or while the review of the head is live whose description was edited. */
async function mustWait({ ledger }: SweepDeps, run: Run): Promise<boolean> {
  if (await standingHalt(ledger, run.repository)) return true
  if (run.reason?.code !== 'attempt_waits') return false
  const thread = await readThread(ledger, run.repository.id, run.number)
  const liveRun = thread?.liveRun && (await readRun(ledger, thread.liveRun.runId))
  return liveRun?.head === run.head && isLive(liveRun.state)
}
