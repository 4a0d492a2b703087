/**
 * The duties of every Step Functions under Muster, from any provider. The machine under test has a single state, which
 * waits for a task token; the TimeoutSeconds of the state is at least a minute.
 */
import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

export interface ContractSubject {
  readonly client: SFNClient
  readonly machineArn: string
  /** Resolves with the task token of the waiting execution of this name. */
  tokenOf(executionName: string): Promise<string>
  close(): Promise<void>
}

export function stepFunctionsContract(provider: string, open: () => Promise<ContractSubject>): void {
  describe(`Step Functions by ${provider}`, () => {
    let subject: ContractSubject
    let client: SFNClient
    let names = 0

    beforeAll(async () => {
      subject = await open()
      client = subject.client
    })
    afterAll(() => subject.close())

    const newName = (): string => `contract-${process.pid}-${++names}`

    const start = (name: string, input = '{}') =>
      client.send(new StartExecutionCommand({ stateMachineArn: subject.machineArn, name, input }))

    const describeExecution = (executionArn = '') => client.send(new DescribeExecutionCommand({ executionArn }))

    const errorName = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'no error',
        (error: Error) => error.name,
      )

    const statusOf = (executionArn = '', status = '') =>
      vi.waitUntil(async () => (await describeExecution(executionArn)).status === status, { timeout: 10_000 })

    test('an execution has the names of machine and run, and is described at work', async () => {
      const name = newName()
      const { executionArn, startDate } = await start(name, '{"n":1}')

      const description = await describeExecution(executionArn)

      expect(executionArn).toBe(`${subject.machineArn.replace(':stateMachine:', ':execution:')}:${name}`)
      expect(startDate).toBeInstanceOf(Date)
      expect(description).toMatchObject({ executionArn, name, status: 'RUNNING', input: '{"n":1}', startDate })
      expect(description.stateMachineArn).toBe(subject.machineArn)
      expect(description.stopDate).toBeUndefined()
    })

    test('AW58: a repeated start joins a running execution with the same input; another input or an ended execution is ExecutionAlreadyExists', async () => {
      const name = newName()
      const first = await start(name, '{"n":1}')

      const second = await start(name, '{"n":1}')
      const other = await errorName(start(name, '{"n":2}'))
      await client.send(new StopExecutionCommand({ executionArn: first.executionArn ?? '' }))
      await statusOf(first.executionArn, 'ABORTED')
      const ended = await errorName(start(name, '{"n":1}'))

      expect([second.executionArn, second.startDate]).toEqual([first.executionArn, first.startDate])
      expect([other, ended]).toEqual(['ExecutionAlreadyExists', 'ExecutionAlreadyExists'])
    })

    test.each([' ', 'a b', 'a/b', 'a:b', 'a\u0001', 'x'.repeat(81)])('%j cannot name an execution', async (name) => {
      expect(await errorName(start(name))).toBe('InvalidName')
    })

    test('an input other than JSON, and an unknown machine, are refused', async () => {
      const stateMachineArn = `${subject.machineArn}x`

      expect(await errorName(start(newName(), '{'))).toBe('InvalidExecutionInput')
      expect(await errorName(client.send(new StartExecutionCommand({ stateMachineArn })))).toBe(
        'StateMachineDoesNotExist',
      )
      expect(
        await errorName(describeExecution(`${subject.machineArn.replace('stateMachine', 'execution')}:none`)),
      ).toBe('ExecutionDoesNotExist')
      expect(await errorName(describeExecution('no arn'))).toBe('InvalidArn')
    })

    test('the answer to a token is the task’s result, and later answers are TaskTimedOut', async () => {
      const name = newName()
      const { executionArn } = await start(name)
      const taskToken = await subject.tokenOf(name)

      await client.send(new SendTaskSuccessCommand({ taskToken, output: '{"granted":true}' }))
      await statusOf(executionArn, 'SUCCEEDED')

      expect((await describeExecution(executionArn)).output).toBe('{"granted":true}')
      const late = client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' }))
      expect(await errorName(late)).toBe('TaskTimedOut')
    })

    test('of answers at the same moment exactly one is accepted', async () => {
      const name = newName()
      await start(name)
      const taskToken = await subject.tokenOf(name)

      const outcomes = await Promise.all(
        [1, 2, 3, 4].map((n) => errorName(client.send(new SendTaskSuccessCommand({ taskToken, output: String(n) })))),
      )

      expect(outcomes.sort()).toEqual(['TaskTimedOut', 'TaskTimedOut', 'TaskTimedOut', 'no error'])
    })

    test('a malformed token is InvalidToken, and a malformed output is InvalidOutput', async () => {
      const name = newName()
      await start(name)
      const taskToken = await subject.tokenOf(name)
      const success = (token: string, output: string) =>
        errorName(client.send(new SendTaskSuccessCommand({ taskToken: token, output })))

      expect(await success('no token', '{}')).toBe('InvalidToken')
      expect(await success(taskToken, '{')).toBe('InvalidOutput')
      expect(await success(taskToken, '{}')).toBe('no error')
    })

    test('a stopped execution keeps the reason, and the token is dead', async () => {
      const name = newName()
      const { executionArn = '' } = await start(name)
      const taskToken = await subject.tokenOf(name)

      await client.send(new StopExecutionCommand({ executionArn, error: 'superseded', cause: 'A newer head came.' }))
      await statusOf(executionArn, 'ABORTED')

      expect(await describeExecution(executionArn)).toMatchObject({ error: 'superseded', cause: 'A newer head came.' })
      expect(await errorName(client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })))).toBe('TaskTimedOut')
    })

    test('executions are listed newest first, by status, in pages without repetition and without gaps', async () => {
      const started: string[] = []
      for (let n = 0; n < 5; n += 1) started.push((await start(newName())).executionArn ?? '')
      const stopped = started[2] ?? ''
      await client.send(new StopExecutionCommand({ executionArn: stopped }))
      await statusOf(stopped, 'ABORTED')
      const list = (options: object) =>
        client.send(new ListExecutionsCommand({ stateMachineArn: subject.machineArn, maxResults: 2, ...options }))

      const listed: string[] = []
      let nextToken: string | undefined
      do {
        const page = await list({ statusFilter: 'RUNNING', ...(nextToken !== undefined && { nextToken }) })
        expect(page.executions?.length).toBeLessThanOrEqual(2)
        listed.push(...(page.executions ?? []).map((execution) => execution.executionArn ?? ''))
        nextToken = page.nextToken
      } while (nextToken !== undefined && listed.length < 4)
      const aborted = await list({ statusFilter: 'ABORTED' })

      const running = started.filter((arn) => arn !== stopped).reverse()
      expect(listed.slice(0, 4)).toEqual(running)
      expect(aborted.executions?.[0]).toMatchObject({ executionArn: stopped, status: 'ABORTED' })
      expect(await errorName(list({ nextToken: 'elsewhere' }))).toBe('InvalidToken')
    })
  })
}
