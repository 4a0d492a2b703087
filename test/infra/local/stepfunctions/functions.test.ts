/** The two local services together: any end of a function has the error name that the machine matches. */
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { afterEach, expect, test, vi } from 'vitest'
import { type LocalFunctions, startFunctions } from '../../../../infra/local/functions/functions.ts'
import type { LocalStepFunctions } from '../../../../infra/local/stepfunctions/stepfunctions.ts'
import { functionArn, machineArn, sfnClient, startMachine, taskMachine } from './machine.ts'

const bundle = new URL('../functions/handlers.mjs', import.meta.url).pathname

let functions: LocalFunctions | undefined
let service: LocalStepFunctions | undefined

afterEach(async () => {
  await service?.close()
  await functions?.close()
})

/** The end of an execution whose single task runs this handler and catches only `error`. */
async function endWith(handler: string, error: string, payload: object = {}) {
  functions = startFunctions([
    { name: 'only', arn: functionArn('only'), bundle, handler, environment: {}, timeoutMs: 500, concurrencyMax: 1 },
  ])
  const only = taskMachine({
    Parameters: { FunctionName: functionArn('only'), Payload: payload },
    Catch: [{ ErrorEquals: [error], ResultPath: '$.caught', Next: 'Caught' }],
  }) as { States: object }
  const definition = { ...only, States: { ...only.States, Caught: { Type: 'Succeed' } } }
  service = await startMachine(definition, functions.invoke)
  const client = sfnClient(service.url)
  const { executionArn } = await client.send(new StartExecutionCommand({ stateMachineArn: machineArn }))
  return vi.waitUntil(
    async () => {
      const description = await client.send(new DescribeExecutionCommand({ executionArn }))
      return description.status === 'RUNNING' ? undefined : description
    },
    { timeout: 10_000 },
  )
}

test('a function’s result is the payload of the task', async () => {
  const { output = '' } = await endWith('slow', 'none', { ms: 1, n: 7 })

  expect(JSON.parse(output)).toEqual({
    ExecutedVersion: '$LATEST',
    Payload: { runningMost: 1, events: 1, n: 7 },
    StatusCode: 200,
  })
})

test.each([
  ['AW68: an error by the name it was given', 'fails', 'stale_fence', { name: 'stale_fence' }],
  ['a timeout of the function as Sandbox.Timedout', 'spins', 'Sandbox.Timedout', {}],
  ['a runtime that ended as Runtime.ExitError', 'exits', 'Runtime.ExitError', {}],
])('a Catch matches %s', async (_title, handler, error, payload) => {
  const { status, output = '' } = await endWith(handler, error, payload)

  expect(status).toBe('SUCCEEDED')
  expect(JSON.parse(output).caught.Error).toBe(error)
  expect(output).not.toContain('handlers.mjs')
})
