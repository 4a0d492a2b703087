/** The actions of the Step Functions API that Muster and its operators use, over the executions of this machine. */
import { randomUUID } from 'node:crypto'
import type { Action } from '../json-protocol.ts'
import { Refusal } from './errors.ts'
import { type Execution, type Executions, executionArn } from './executions.ts'
import {
  arn,
  errorAndCause,
  type Input,
  inputOf,
  jsonText,
  optional,
  page,
  required,
  taskToken,
  validName,
} from './fields.ts'
import { historyOf } from './history.ts'
import type { Runner } from './runner.ts'

export interface Machine {
  readonly arn: string
  /** Parsed Amazon States Language, with concrete ARNs. */
  readonly definition: object
}

export interface Backend {
  readonly machines: ReadonlyMap<string, Machine>
  readonly executions: Executions
  readonly runner: Runner
}

/** By name; an action's input is unchecked, and its refusal is a `Refusal`. */
export function stepFunctionsActions(backend: Backend): Record<string, Action> {
  const actions = typedActions(backend)
  return Object.fromEntries(Object.entries(actions).map(([name, act]) => [name, (body: unknown) => act(inputOf(body))]))
}

function typedActions(backend: Backend): Record<string, (input: Input) => object> {
  const { machines, executions, runner } = backend

  function machineOf(input: Input): Machine {
    const machineArn = arn(input, 'stateMachineArn', 'stateMachine')
    const machine = machines.get(machineArn)
    if (machine) return machine
    const known = [...machines.keys()].join(', ')
    throw new Refusal('StateMachineDoesNotExist', `"${machineArn}" does not exist. Use ${known}.`)
  }

  function executionOf(input: Input): Execution {
    const executionArn = arn(input, 'executionArn', 'execution')
    const execution = executions.get(executionArn)
    if (execution) return execution
    throw new Refusal('ExecutionDoesNotExist', `"${executionArn}" does not exist. List the executions to find it.`)
  }

  return {
    StartExecution(input) {
      const machine = machineOf(input)
      const name = validName(optional(input, 'name') || randomUUID())
      const text = jsonText(optional(input, 'input') ?? '{}', 'InvalidExecutionInput')
      const before = executions.get(executionArn(machine.arn, name))
      if (before) {
        // A repeated start joins a running execution; the name of an ended execution stays taken.
        if (before.live?.started.input !== text) {
          throw new Refusal('ExecutionAlreadyExists', `"${before.arn}" exists. Use another name for another execution.`)
        }
        return { executionArn: before.arn, startDate: before.startedAt / 1000 }
      }
      const execution = executions.start(machine.arn, name, text, machine.definition)
      // After the answer, as on AWS: a function called at once may rely on a caller that knows the ARN.
      setImmediate(() => runner.run(execution))
      return { executionArn: execution.arn, startDate: execution.startedAt / 1000 }
    },

    StopExecution(input) {
      const execution = executionOf(input)
      const reason = errorAndCause(input)
      runner.stop(execution, { status: 'ABORTED', ...reason })
      return { stopDate: (execution.stoppedAt ?? execution.startedAt) / 1000 }
    },

    DescribeExecution(input) {
      const execution = executionOf(input)
      const lines = executions.read(execution)
      const [started] = lines
      const last = lines.at(-1)
      return {
        ...summaryOf(execution),
        ...(started?.kind === 'started' && { input: started.input, inputDetails: { included: true } }),
        ...(last?.kind === 'ended' && { output: last.output, error: last.error, cause: last.cause }),
      }
    },

    ListExecutions(input) {
      const machine = machineOf(input)
      const status = optional(input, 'statusFilter')
      const { limit, after = Number.POSITIVE_INFINITY } = page(input)
      const found = executions.list({
        machineArn: machine.arn,
        ...(status !== undefined && { status }),
        before: after,
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      return {
        executions: shown.map(summaryOf),
        ...(found.length > limit && { nextToken: String(shown.at(-1)?.sequence) }),
      }
    },

    GetExecutionHistory(input) {
      const execution = executionOf(input)
      const { limit, after = 0 } = page(input)
      const events = historyOf(executions.read(execution))
      if (input.reverseOrder === true) events.reverse()
      const end = after + limit
      return { events: events.slice(after, end), ...(end < events.length && { nextToken: String(end) }) }
    },

    SendTaskSuccess(input) {
      runner.answer(taskToken(input), { output: jsonText(required(input, 'output'), 'InvalidOutput') })
      return {}
    },
  }
}

function summaryOf(execution: Execution): Record<string, unknown> {
  return {
    executionArn: execution.arn,
    stateMachineArn: execution.machineArn,
    name: execution.name,
    status: execution.status,
    startDate: execution.startedAt / 1000,
    ...(execution.stoppedAt !== undefined && { stopDate: execution.stoppedAt / 1000 }),
  }
}
