/** Executions of the state machine: started once per attempt, described, stopped, and answered by task token. */
import {
  DescribeExecutionCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { nameOf } from '../base/errors.ts'
import { CONTRACT } from '../base/limits.ts'
import type { Run } from '../runs/run.ts'
import { executionNameOf } from '../runs/run-identity.ts'
import { tokensIn } from '../runs/task-tokens.ts'
import { sayingRetry, withDeadline } from './client.ts'

export interface Executions {
  readonly client: SFNClient
}

/** Opens Step Functions; nothing is sent yet. */
export function openExecutions(): Executions {
  return { client: sayingRetry(new SFNClient({ requestHandler: withDeadline() })) }
}

/** The ARN of the attempt's execution, started or not. */
export function executionArnOf(stateMachineArn: string, run: Run): string {
  return `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${nameFor(run)}`
}

/** The ARN of an execution's state machine. */
export function stateMachineArnOf(executionArn: string): string {
  return executionArn.replace(':execution:', ':stateMachine:').split(':').slice(0, 7).join(':')
}

/**
 * Starts the execution of a run's attempt. An existing execution with the same input counts as started (AW58, PL5); an
 * execution of the same name with other input rejects, which only a change of names can bring about.
 */
export async function startExecution(
  executions: Executions,
  stateMachineArn: string,
  run: Run,
  signal?: AbortSignal,
): Promise<void> {
  const options = signal ? { abortSignal: signal } : {}
  const input = JSON.stringify({ contract: CONTRACT, runId: run.runId, attempt: run.attempt })
  try {
    await executions.client.send(new StartExecutionCommand({ stateMachineArn, name: nameFor(run), input }), options)
  } catch (error) {
    if (nameOf(error) !== 'ExecutionAlreadyExists') throw error
    const executionArn = executionArnOf(stateMachineArn, run)
    const existing = await executions.client.send(new DescribeExecutionCommand({ executionArn }), options)
    if (existing.input !== input) throw error
  }
}

/** The status of an execution: running, ended (with its error, if any), or never started. */
export type ExecutionStatus =
  | { readonly kind: 'running' | 'absent' }
  | { readonly kind: 'ended'; readonly status: string; readonly error: string }

/** Reads the status of an execution. */
export async function describeExecution(executions: Executions, executionArn: string): Promise<ExecutionStatus> {
  try {
    const { status, error } = await executions.client.send(new DescribeExecutionCommand({ executionArn }))
    if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return { kind: 'running' }
    return { kind: 'ended', status: status ?? 'unknown', error: error ?? '' }
  } catch (error) {
    if (nameOf(error) === 'ExecutionDoesNotExist') return { kind: 'absent' }
    throw error
  }
}

/** Stops an execution; no effect on an ended or unstarted execution. */
export async function stopExecution(executions: Executions, executionArn: string, cause: string): Promise<void> {
  try {
    await executions.client.send(new StopExecutionCommand({ executionArn, cause }))
  } catch (error) {
    if (nameOf(error) !== 'ExecutionDoesNotExist' && nameOf(error) !== 'ValidationException') throw error
  }
}

/** Errors of a late answer: no task waits on the token any more. */
const DEAD_ANSWERS = ['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken']

/**
 * Answers the task waiting on one of the tokens (task-tokens.ts): the newest is tried first, as no two are waited on at once.
 * `dead` means that no task waits on any; it says nothing about the work.
 */
export async function answerToken(
  executions: Executions,
  tokens: string,
  output: Record<string, string | number>,
): Promise<'answered' | 'dead'> {
  for (const taskToken of tokensIn(tokens).toReversed()) {
    try {
      await executions.client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) }))
      return 'answered'
    } catch (error) {
      if (!DEAD_ANSWERS.includes(nameOf(error))) throw error
    }
  }
  return 'dead'
}

function nameFor(run: Run): string {
  return executionNameOf({ ...run, ...run.repository })
}
