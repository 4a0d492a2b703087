/** A new process takes over the executions of the last process. */
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type Invoke,
  type LocalStepFunctions,
  startStepFunctions,
} from '../../../../infra/local/stepfunctions/stepfunctions.ts'
import { functionError, machineArn, reviewMachine, sfnClient, taskMachine, waitMachine } from './machine.ts'

const hourMs = 60 * 60 * 1000

let directory = ''
let service: LocalStepFunctions | undefined

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'recovery-'))
})

afterEach(async () => {
  await service?.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Ends the process of the last part, if any, and begins the next part. */
async function restart(definition: object, invoke: Invoke, laterByMs = 0) {
  await service?.close()
  const machines = [{ arn: machineArn, definition }]
  const started = await startStepFunctions({ directory, machines, invoke, now: () => Date.now() + laterByMs })
  service = started
  const client = sfnClient(started.url)
  return {
    client,
    resume: () => started.resume(),
    transitions: (arn: string) => started.transitions(arn),
    async start(name: string, input: unknown = {}) {
      const command = { stateMachineArn: machineArn, name, input: JSON.stringify(input) }
      return (await client.send(new StartExecutionCommand(command))).executionArn ?? ''
    },
    answer: (taskToken: string, output: unknown) =>
      client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(output) })),
    async ended(executionArn: string) {
      return vi.waitUntil(
        async () => {
          const description = await client.send(new DescribeExecutionCommand({ executionArn }))
          return description.status === 'RUNNING' ? undefined : description
        },
        { timeout: 10_000, interval: 10 },
      )
    },
  }
}

const tokenIn = (payload: unknown): string => (payload as { token: string }).token

const never: Invoke = () => new Promise(() => undefined)

const mustNotBeInvoked: Invoke = async (arn) => {
  throw functionError('invoked_again', arn)
}

/** The event types of the execution's history with their state or error. */
async function historyOf(client: ReturnType<typeof sfnClient>, executionArn: string): Promise<string[]> {
  const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn }))
  return events.map((event) => `${event.type} ${event.stateEnteredEventDetails?.name ?? ''}`.trim())
}

describe('a wait', () => {
  test.each(['before', 'after'])(
    'takes the answer to its old token, %s resume, and its function is not called again',
    async (when) => {
      const tokens: string[] = []
      const first = await restart(waitMachine(), async (_arn, payload) => void tokens.push(tokenIn(payload)))
      const arn = await first.start('waits')
      await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskSubmitted'))

      const second = await restart(waitMachine(), mustNotBeInvoked)
      if (when === 'after') await second.resume()
      await second.answer(tokens[0] ?? '', { granted: true })
      if (when === 'before') await second.resume()

      expect(await second.ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: '{"granted":true}' })
      await expect(second.answer(tokens[0] ?? '', {})).rejects.toThrow(
        expect.objectContaining({ name: 'TaskTimedOut' }),
      )
    },
  )

  test('a wait whose function was in flight calls the function again with the same token', async () => {
    const tokens: string[] = []
    const first = await restart(waitMachine(), (_arn, payload) => {
      tokens.push(tokenIn(payload))
      return new Promise(() => undefined)
    })
    const arn = await first.start('waits')
    await vi.waitUntil(() => tokens.length === 1)

    const second = await restart(waitMachine(), async (_arn, payload) => void tokens.push(tokenIn(payload)))
    await second.resume()
    await vi.waitUntil(() => tokens.length === 2)
    await second.answer(tokens[0] ?? '', 'done')

    expect(tokens[1]).toBe(tokens[0])
    expect((await second.ended(arn)).status).toBe('SUCCEEDED')
  })

  test('a wait counts the timeout from the beginning: a wait over meanwhile is dead at once', async () => {
    const tokens: string[] = []
    const machine = waitMachine({ TimeoutSeconds: 1_800 })
    const first = await restart(machine, async (_arn, payload) => void tokens.push(tokenIn(payload)))
    const arn = await first.start('waits')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskSubmitted'))

    const second = await restart(machine, mustNotBeInvoked, hourMs)
    await expect(second.answer(tokens[0] ?? '', {})).rejects.toThrow(expect.objectContaining({ name: 'TaskTimedOut' }))
    await second.resume()

    expect(await second.ended(arn)).toMatchObject({ status: 'FAILED', error: 'States.Timeout' })
  })

  test('a wait of another service is TaskDoesNotExist', async () => {
    const { answer } = await restart(waitMachine(), never)

    await expect(answer(`${'0'.repeat(32)}.${'0'.repeat(32)}`, {})).rejects.toThrow(
      expect.objectContaining({ name: 'TaskDoesNotExist' }),
    )
  })
})

describe('a task', () => {
  test('a task in flight is invoked again, with its whole time; earlier tasks are not', async () => {
    const calls: string[] = []
    const invokeWith =
      (review: () => Promise<unknown>): Invoke =>
      async (arn, payload) => {
        const name = arn.split(':').at(-1) ?? ''
        calls.push(name)
        const { items, width, token } = payload as { items: string[]; width: number; token: string }
        if (name === 'plan') return { outcome: 'planned', items, width }
        if (name === 'review') return review()
        const command = new SendTaskSuccessCommand({ taskToken: token, output: '{"epoch":1}' })
        return sfnClient(service?.url ?? '').send(command)
      }
    const first = await restart(
      reviewMachine,
      invokeWith(() => never('', {}, new AbortController().signal)),
    )
    const arn = await first.start('run', { items: ['a'], width: 1 })
    await vi.waitUntil(() => calls.includes('review'))
    const before = await historyOf(first.client, arn)

    const slowly = () => new Promise((resolve) => setTimeout(resolve, 20, { outcome: 'complete' }))
    const second = await restart(reviewMachine, invokeWith(slowly), hourMs)
    await second.resume()
    const { status, output = '' } = await second.ended(arn)
    const after = await historyOf(second.client, arn)

    expect(status).toBe('SUCCEEDED')
    expect(JSON.parse(output).reviews).toMatchObject([{ result: { outcome: 'complete' } }])
    expect(calls).toEqual(['plan', 'admit', 'review', 'review', 'conclude'])
    expect(after.slice(0, before.length)).toEqual(before)
    // The replay passes these states again, and the history doesn't show the repetition.
    expect(after.filter((event) => event === 'TaskStateEntered Admit')).toHaveLength(1)
    expect(second.transitions(arn)).toBe(8)
  })

  test('a task between attempts does not repeat the elapsed wait', async () => {
    const retry = { ErrorEquals: ['busy'], IntervalSeconds: 1_800, MaxAttempts: 1 }
    const first = await restart(taskMachine({ Retry: [retry] }), async () => {
      throw functionError('busy')
    })
    const arn = await first.start('run')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskFailed'))

    const second = await restart(taskMachine({ Retry: [retry] }), async () => 'done', hourMs)
    await second.resume()

    expect((await second.ended(arn)).status).toBe('SUCCEEDED')
  })

  test('a task in a Wait state waits until the time of its entry plus its wait, and goes on once', async () => {
    const { States } = taskMachine() as { States: object }
    const machine = { StartAt: 'Rest', States: { Rest: { Type: 'Wait', Seconds: 1_800, Next: 'Only' }, ...States } }
    const first = await restart(machine, mustNotBeInvoked)
    const arn = await first.start('run', { n: 1 })
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('WaitStateEntered Rest'))

    const early = await restart(machine, mustNotBeInvoked)
    await early.resume()
    expect(await historyOf(early.client, arn)).toEqual(['ExecutionStarted', 'WaitStateEntered Rest'])
    const late = await restart(machine, async (_arn, payload) => payload, hourMs)
    await late.resume()

    expect(await late.ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
    const history = await historyOf(late.client, arn)
    expect(history.filter((event) => event.startsWith('WaitState'))).toHaveLength(2)
    expect(JSON.parse((await late.ended(arn)).output ?? '').Payload).toEqual({ input: { n: 1 } })
    expect(late.transitions(arn)).toBe(2)
  })

  test('a task does not get more attempts by a restart', async () => {
    const retry = { ErrorEquals: ['busy'], IntervalSeconds: 1_800, BackoffRate: 1, MaxAttempts: 1 }
    const busy: Invoke = async () => {
      throw functionError('busy')
    }
    const first = await restart(taskMachine({ Retry: [retry] }), busy)
    const arn = await first.start('run')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskFailed'))

    const second = await restart(taskMachine({ Retry: [retry] }), busy, hourMs)
    await second.resume()

    expect(await second.ended(arn)).toMatchObject({ status: 'FAILED', error: 'busy' })
  })
})

describe('an execution', () => {
  test('an execution keeps the definition of its start', async () => {
    const first = await restart(taskMachine(), never)
    const arn = await first.start('run')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskStarted'))

    const second = await restart(waitMachine(), async (functionArn) => functionArn)
    await second.resume()

    expect((await second.ended(arn)).output).toContain('function:only')
  })

  test('an execution survives an incomplete last line of the last process', async () => {
    const first = await restart(taskMachine(), never)
    const arn = await first.start('run')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskStarted'))
    await service?.close()
    for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      if (file.endsWith('.jsonl')) appendFileSync(join(directory, file), '{"kind":"outcome","task":"Only')
    }

    const second = await restart(taskMachine(), async () => 'done')
    await second.resume()
    const again = await second.start('another')
    await second.ended(again)
    const third = await restart(taskMachine(), mustNotBeInvoked)

    expect((await third.ended(arn)).status).toBe('SUCCEEDED')
    expect((await third.ended(again)).status).toBe('SUCCEEDED')
  })

  test('an execution with an unwritable journal is suspended with a warning, loses nothing, and goes on later', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    let finish: (value: unknown) => void = () => undefined
    const first = await restart(taskMachine(), () => {
      return new Promise((resolve) => {
        finish = resolve
      })
    })
    const arn = await first.start('run')
    await vi.waitUntil(async () => (await historyOf(first.client, arn)).includes('TaskStarted'))
    const files = readdirSync(join(directory, 'executions'), { recursive: true, encoding: 'utf8' })
    const journal = join(directory, 'executions', files.find((file) => file.endsWith('.jsonl')) ?? '')

    // A folder in the file's place makes every append fail.
    renameSync(journal, `${journal}.aside`)
    mkdirSync(journal)
    finish('lost')
    await vi.waitUntil(() => warnings.length > 0)
    const stopped = first.client.send(new StopExecutionCommand({ executionArn: arn }))
    await expect(stopped).rejects.toThrow('suspended')
    process.off('warning', onWarning)
    rmdirSync(journal)
    renameSync(`${journal}.aside`, journal)
    const second = await restart(taskMachine(), async () => 'done')
    await second.resume()

    expect(warnings).toMatchObject([{ code: 'execution_suspended' }])
    expect((await second.ended(arn)).output).toContain('done')
  })

  test('an ended execution is found, listed and counted as before, and its name stays taken', async () => {
    const first = await restart(taskMachine(), async () => 'done')
    const arns = [await first.start('one'), await first.start('two')]
    const [before] = await Promise.all(arns.map(first.ended))

    const second = await restart(taskMachine(), mustNotBeInvoked)
    await second.resume()
    const command = new ListExecutionsCommand({ stateMachineArn: machineArn, statusFilter: 'SUCCEEDED' })
    const { executions = [] } = await second.client.send(command)

    const withoutMetadata = ({ $metadata, ...rest }: NonNullable<typeof before>) => rest
    expect(withoutMetadata(await second.ended(arns[0] ?? ''))).toEqual(before && withoutMetadata(before))
    expect(executions.map((execution) => execution.name)).toEqual(['two', 'one'])
    expect(second.transitions(arns[0] ?? '')).toBe(1)
    await expect(second.start('one')).rejects.toThrow(expect.objectContaining({ name: 'ExecutionAlreadyExists' }))
  })

  test('an execution is forgotten 90 days after its end, together with its file', async () => {
    const first = await restart(taskMachine(), async () => 'done')
    await first.ended(await first.start('old'))

    const second = await restart(taskMachine(), async () => 'done', 91 * 24 * hourMs)

    const files = readdirSync(join(directory, 'executions'), { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => file.endsWith('.jsonl'))).toEqual([])
    expect((await second.ended(await second.start('old'))).status).toBe('SUCCEEDED')
  })
})
