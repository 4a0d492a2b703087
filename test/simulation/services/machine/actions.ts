/**
 * The actions of the Step Functions API over the executions of one machine, with the same request checks as the
 * embedded service.
 */
import { Refusal } from '../../../../infra/local/stepfunctions/errors.ts'
import {
  arn,
  errorAndCause,
  type Input,
  jsonText,
  optional,
  page,
  required,
  taskToken,
  validName,
} from '../../../../infra/local/stepfunctions/fields.ts'
import { historyOf } from '../../../../infra/local/stepfunctions/history.ts'
import type { Execution } from './execution.ts'
import type { Actions } from './protocol.ts'
import type { Run } from './run.ts'
import type { Tokens } from './tokens.ts'
import type { MachineWorld } from './world.ts'

export interface Backend {
  readonly machineArn: string
  readonly definition: object
  /** ms UTC. */
  readonly createdAt: number
  readonly world: MachineWorld
  readonly tokens: Tokens
  /** By ARN, in the order of their starts. */
  readonly runs: ReadonlyMap<string, Run>
  /** Makes a new execution, which begins in a later event. */
  start(arn: string, name: string, input: string): Run
}

export function machineActions(backend: Backend): Actions {
  const { machineArn, tokens, world } = backend
  const machineName = machineArn.split(':').at(-1)
  const machine = {
    stateMachineArn: machineArn,
    name: machineName,
    type: 'STANDARD',
    creationDate: backend.createdAt / 1000,
  }

  function checkMachine(input: Input): void {
    if (arn(input, 'stateMachineArn', 'stateMachine') === machineArn) return
    throw new Refusal('StateMachineDoesNotExist', `The machine here is ${machineArn}.`)
  }

  function runOf(input: Input): Run {
    const run = backend.runs.get(arn(input, 'executionArn', 'execution'))
    if (run) return run
    throw new Refusal('ExecutionDoesNotExist', 'There is no such execution. List the executions to find it.')
  }

  return {
    StartExecution(input) {
      checkMachine(input)
      const name = validName(optional(input, 'name') || `unnamed-${backend.runs.size + 1}`)
      const text = jsonText(optional(input, 'input') ?? '{}', 'InvalidExecutionInput')
      const executionArn = `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`
      const before = backend.runs.get(executionArn)
      // A repeated start joins a running execution; an ended execution's name stays taken.
      if (before && (before.isOver || before.input !== text)) {
        throw new Refusal('ExecutionAlreadyExists', `"${name}" exists. Use another name for another execution.`)
      }
      const run = before ?? backend.start(executionArn, name, text)
      return { executionArn, startDate: run.startedAt / 1000 }
    },

    StopExecution(input) {
      const run = runOf(input)
      run.end({ status: 'ABORTED', ...errorAndCause(input) })
      return { stopDate: (run.stoppedAt ?? run.startedAt) / 1000 }
    },

    DescribeExecution(input) {
      const run = runOf(input)
      const { output, error, cause } = run
      return { ...summaryOf(machineArn, run), input: run.input, inputDetails: { included: true }, output, error, cause }
    },

    ListExecutions(input) {
      checkMachine(input)
      const status = optional(input, 'statusFilter')
      const { limit, after = Number.POSITIVE_INFINITY } = page(input)
      const found = [...backend.runs.values()]
        .reverse()
        .filter((run) => run.sequence < after && (status === undefined || run.status === status))
      const shown = found.slice(0, limit)
      return {
        executions: shown.map((run) => summaryOf(machineArn, run)),
        ...(found.length > limit && { nextToken: String(shown.at(-1)?.sequence) }),
      }
    },

    GetExecutionHistory(input) {
      const events = historyOf(runOf(input).lines)
      const { limit, after = 0 } = page(input)
      if (input.reverseOrder === true) events.reverse()
      const end = after + limit
      return { events: events.slice(after, end), ...(end < events.length && { nextToken: String(end) }) }
    },

    DescribeStateMachine(input) {
      checkMachine(input)
      const roleArn = 'arn:aws:iam::000000000000:role/simulated'
      return { ...machine, status: 'ACTIVE', definition: JSON.stringify(backend.definition), roleArn }
    },

    ListStateMachines() {
      return { stateMachines: [machine] }
    },

    SendTaskSuccess(input) {
      const token = taskToken(input)
      const output = jsonText(required(input, 'output'), 'InvalidOutput')
      tokens.waiting(token, world.now()).settle({ output })
      return {}
    },

    SendTaskFailure(input) {
      const { error = 'States.TaskFailed', cause = '' } = errorAndCause(input)
      tokens.waiting(taskToken(input), world.now()).settle({ error, cause })
      return {}
    },

    SendTaskHeartbeat(input) {
      tokens.waiting(taskToken(input), world.now())
      return {}
    },
  }
}

function summaryOf(stateMachineArn: string, execution: Execution): Record<string, unknown> {
  return {
    executionArn: execution.arn,
    stateMachineArn,
    name: execution.name,
    status: execution.status,
    startDate: execution.startedAt / 1000,
    ...(execution.stoppedAt !== undefined && { stopDate: execution.stoppedAt / 1000 }),
  }
}
