/**
 * The simulated Step Functions keeps the same contract as AWS's Step Functions: over HTTP, with real timers for its
 * events.
 */
import { vi } from 'vitest'
import { stepFunctionsContract } from '../../infra/local/stepfunctions/contract.ts'
import { machineArn, sfnClient, waitMachine } from '../../infra/local/stepfunctions/machine.ts'
import { serveSimulated } from './http.ts'
import { compileMachine, type MachineWorld, simulateMachine } from './machine.ts'

stepFunctionsContract('the simulation', async () => {
  const tokens = new Map<string, string>()
  const parameters = { FunctionName: 'wait', Payload: { 'name.$': '$$.Execution.Name', 'token.$': '$$.Task.Token' } }
  const world: MachineWorld = {
    now: Date.now,
    after(ms, fn) {
      const timer = setTimeout(fn, ms).unref()
      return () => clearTimeout(timer)
    },
    random: Math.random,
    invoke(_arn, payload, done) {
      const { name, token } = payload as { name: string; token: string }
      tokens.set(name, token)
      setImmediate(() => done({ ok: null }))
      return undefined
    },
  }
  const program = compileMachine(waitMachine({ Parameters: parameters }))
  const service = await serveSimulated(simulateMachine({ machineArn, program, world }))
  return {
    client: sfnClient(service.url),
    machineArn,
    tokenOf: (name) => vi.waitUntil(() => tokens.get(name)),
    close: () => service.close(),
  }
})
