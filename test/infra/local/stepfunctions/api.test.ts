/** The local Step Functions keeps the contract of AWS's own. */
import { vi } from 'vitest'
import { stepFunctionsContract } from './contract.ts'
import { machineArn, sfnClient, startMachine, waitMachine } from './machine.ts'

stepFunctionsContract('the local endpoint', async () => {
  const tokens = new Map<string, string>()
  const parameters = { FunctionName: 'wait', Payload: { 'name.$': '$$.Execution.Name', 'token.$': '$$.Task.Token' } }
  const service = await startMachine(waitMachine({ Parameters: parameters }), async (_arn, payload) => {
    const { name, token } = payload as { name: string; token: string }
    tokens.set(name, token)
  })
  return {
    client: sfnClient(service.url),
    machineArn,
    tokenOf: (name) => vi.waitUntil(() => tokens.get(name)),
    close: () => service.close(),
  }
})
