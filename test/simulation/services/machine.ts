/** Step Functions in the simulation: interprets the real definition in virtual time, event by event. */
import { machineActions } from './machine/actions.ts'
import type { Execution } from './machine/execution.ts'
import type { Program } from './machine/program.ts'
import { answerJson } from './machine/protocol.ts'
import { Run } from './machine/run.ts'
import { Tokens } from './machine/tokens.ts'
import type { MachineWorld } from './machine/world.ts'
import type { SimulatedService } from './service.ts'

export { compileMachine } from './machine/compile.ts'
export type { Execution, OpenToken } from './machine/execution.ts'
export type { Program } from './machine/program.ts'
export type { InvocationOutcome, MachineWorld } from './machine/world.ts'

export interface SimulatedMachine extends SimulatedService {
  /** Every execution, in the order of their starts, as it is at this moment. */
  executions(): Execution[]
  /** By the name it was started with. */
  execution(name: string): Execution | undefined
}

/**
 * One machine and its executions. Compile its program once (`compileMachine`) and share it between worlds. Executions
 * are AWS's: none ends because a worker did. The first state is entered in an event after the answer to its start;
 * every other step is taken within the call that leads to it: the answer to a token, the end of an invocation, a timer.
 */
export function simulateMachine(options: {
  machineArn: string
  program: Program
  world: MachineWorld
}): SimulatedMachine {
  const { machineArn, program, world } = options
  const runs = new Map<string, Run>()
  const tokens = new Tokens()
  const byName = new Map<string, Run>()
  const actions = machineActions({
    machineArn,
    definition: program.definition,
    createdAt: world.now(),
    world,
    tokens,
    runs,
    start(arn, name, input) {
      const run = new Run({ sequence: runs.size + 1, machineArn, arn, name, input }, program, world, tokens)
      runs.set(arn, run)
      byName.set(name, run)
      world.after(0, () => run.begin())
      return run
    },
  })
  return {
    answer: (request) => answerJson(request, actions),
    executions: () => [...runs.values()],
    execution: (name) => byName.get(name),
  }
}
