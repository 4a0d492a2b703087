/** Step Functions on one machine: the SDK's protocol on loopback before an engine whose executions survive a kill. */
import { jsonListener } from '../json-protocol.ts'
import { type LocalService, serve } from '../service.ts'
import { type Machine, stepFunctionsActions } from './actions.ts'
import { prepare } from './definition.ts'
import { Executions } from './executions.ts'
import { Runner } from './runner.ts'
import type { Invoke } from './task.ts'

export type { Machine } from './actions.ts'
export type { Invoke } from './task.ts'

/** Bytes: a StartExecution with the longest input, escaped, is the longest request and stays below this limit. */
const requestBytesMax = 2 * 1024 * 1024

export interface LocalStepFunctions extends LocalService {
  /** States that an execution has entered until now, with all iterations. Throws for an unknown ARN. */
  transitions(executionArn: string): number
  /** Continues every execution of the last process. To be called once functions can be invoked. */
  resume(): Promise<void>
}

/**
 * Serves the machines on 127.0.0.1. Executions live under `directory`, for one process at a time. The service takes
 * answers to tokens of an earlier process from the start, before `resume` too. Throws `DefinitionRefused` for a machine
 * that would run otherwise than on AWS.
 * Durable against the end of the process at any moment: every answered fact is on disk. A function with a result on
 * disk is not invoked again; a function in flight is. `close` stops at once and leaves executions RUNNING. `now` is in
 * ms since the epoch, as deadlines are.
 */
export async function startStepFunctions(options: {
  directory: string
  machines: readonly Machine[]
  invoke: Invoke
  now?: () => number
}): Promise<LocalStepFunctions> {
  const now = options.now ?? Date.now
  for (const machine of options.machines) prepare(machine.definition)
  const executions = new Executions(options.directory, now)
  const runner = new Runner(executions, options.invoke, now)
  const machines = new Map(options.machines.map((machine) => [machine.arn, machine]))
  const actions = stepFunctionsActions({ machines, executions, runner })
  const listener = jsonListener({
    target: 'AWSStepFunctions',
    version: '1.0',
    errorNamespace: 'com.amazonaws.states',
    bodyBytesMax: requestBytesMax,
    actions,
  })
  const service = await serve(listener)
  return {
    url: service.url,
    async close() {
      await service.close()
      runner.close()
    },
    transitions(executionArn) {
      const execution = executions.get(executionArn)
      if (!execution) throw new RangeError(`Expected the ARN of an execution, got ${JSON.stringify(executionArn)}`)
      return execution.live?.transitions ?? execution.transitions
    },
    async resume() {
      for (const execution of executions.running()) runner.run(execution)
    },
  }
}
