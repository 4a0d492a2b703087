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
  /** Every execution at this moment, in the order of their starts. */
  executions(): Execution[]
  /** Finds an execution by its name. */
  execution(name: string): Execution | undefined
}

/**
 * One machine and its executions. Compile the program once (`compileMachine`) and share the program between worlds.
 * Executions belong to AWS: no execution ends because a worker died. An execution enters its first state in an event
 * after the answer to its start. Every other step happens within the call that causes the step: a token's answer, an
 * invocation's end, a timer.
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
