/** An execution between its start and its end, seen through the SDK. */
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Invoke, LocalStepFunctions } from '../../../../infra/local/stepfunctions/stepfunctions.ts'
import {
  functionError,
  machineArn,
  reviewMachine,
  sfnClient,
  startMachine,
  taskMachine,
  waitMachine,
} from './machine.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
})

async function start(definition: object, invoke: Invoke): Promise<{ service: LocalStepFunctions; client: SFNClient }> {
  const service = await startMachine(definition, invoke)
  open.push(service)
  return { service, client: sfnClient(service.url) }
}

async function run(client: SFNClient, input: unknown = {}): Promise<string> {
  const command = new StartExecutionCommand({ stateMachineArn: machineArn, input: JSON.stringify(input) })
  return (await client.send(command)).executionArn ?? ''
}

async function ended(client: SFNClient, executionArn: string) {
  return vi.waitUntil(
    async () => {
      const description = await client.send(new DescribeExecutionCommand({ executionArn }))
      return description.status === 'RUNNING' ? undefined : description
    },
    { timeout: 10_000, interval: 10 },
  )
}

describe('a run', () => {
  test('a run goes from plan over admission and review, back after stale_fence, to its conclusion', async () => {
    const calls: string[] = []
    const answer = (token: string, output: unknown) =>
      client.send(new SendTaskSuccessCommand({ taskToken: token, output: JSON.stringify(output) }))
    let epoch = 0
    const { service, client } = await start(reviewMachine, async (arn, payload) => {
      const name = arn.split(':').at(-1) ?? ''
      const { item, token, items, width, execution } = payload as Record<string, unknown>
      calls.push(item === undefined ? name : `${name} ${item}`)
      if (name === 'plan') return { outcome: 'planned', items, width, execution }
      if (name === 'admit') await answer(String(token), { epoch: ++epoch })
      if (name === 'conclude') setImmediate(() => answer(String(token), { outcome: 'shown' }))
      if (name === 'review' && calls.filter((call) => call === `review ${item}`).length === 1 && item === 'b') {
        throw functionError('stale_fence')
      }
      return { outcome: 'complete' }
    })
    const executionArn = await run(client, { items: ['a', 'b'], width: 1 })

    const { status, output } = await ended(client, executionArn)

    expect(status).toBe('SUCCEEDED')
    expect(calls).toEqual(['plan', 'admit a', 'review a', 'admit b', 'review b', 'admit b', 'review b', 'conclude'])
    expect(JSON.parse(output ?? '')).toEqual({
      items: ['a', 'b'],
      width: 1,
      plan: { answer: { outcome: 'planned', items: ['a', 'b'], width: 1, execution: executionArn } },
      reviews: [
        { item: 'a', admission: { epoch: 1 }, result: { outcome: 'complete' } },
        { item: 'b', admission: { epoch: 3 }, result: { outcome: 'complete' } },
      ],
      conclusion: { outcome: 'shown' },
    })
    // Plan, Planned, ReviewMap; Admit, Review, Done; Admit, Review, Admit, Review, Done; Conclude, Succeeded.
    expect(service.transitions(executionArn)).toBe(13)
  })

  test('a run never has more iterations under way than MaxConcurrencyPath allows, and forty do not disturb each other', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    let running = 0
    let runningMost = 0
    let together = 3
    let met = Promise.withResolvers<void>()
    const { client } = await start(reviewMachine, async (arn, payload) => {
      const name = arn.split(':').at(-1)
      const { token, items, width } = payload as Record<string, string>
      if (name === 'plan') return { outcome: 'planned', items, width }
      if (name === 'review') {
        runningMost = Math.max(runningMost, ++running)
        if (running >= together) met.resolve()
        await met.promise // the first iterations wait until this many are under way at once
        running -= 1
      } else await client.send(new SendTaskSuccessCommand({ taskToken: token, output: '{"epoch":1}' }))
      return { outcome: 'complete' }
    })
    const items = Array.from({ length: 40 }, (_, index) => `item ${index}`)

    const narrow = await ended(client, await run(client, { items, width: 3 }))
    const narrowMost = runningMost
    together = 4
    met = Promise.withResolvers<void>()
    const wide = await ended(client, await run(client, { items, width: 40 }))
    process.off('warning', onWarning)

    expect([narrow.status, narrowMost]).toEqual(['SUCCEEDED', 3])
    expect(wide.status).toBe('SUCCEEDED')
    expect(runningMost).toBeGreaterThan(3)
    expect(JSON.parse(narrow.output ?? '').reviews.map((review: { item: string }) => review.item)).toEqual(items)
    expect(warnings).toEqual([])
  })

  test('a run shows state and tasks to a person, oldest or newest first, in pages', async () => {
    const { client } = await start(taskMachine(), async () => ({ done: true }))
    const executionArn = await run(client, { n: 1 })
    await ended(client, executionArn)

    const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn }))
    const first = await client.send(new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 2 }))
    const { nextToken = '' } = first
    const rest = await client.send(new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, nextToken }))

    expect(events.map((event) => event.type)).toEqual([
      'ExecutionStarted',
      'TaskStateEntered',
      'TaskScheduled',
      'TaskStarted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ])
    expect(events[1]?.stateEnteredEventDetails).toMatchObject({ name: 'Only', input: '{"n":1}' })
    expect(events[0]?.timestamp).toBeInstanceOf(Date)
    expect([...(first.events ?? []), ...(rest.events ?? [])].map((event) => event.id)).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(rest.nextToken).toBeUndefined()
  })
})

describe('a failing task', () => {
  test('a failing task ends the execution under the name and message of the function’s error', async () => {
    const { client } = await start(taskMachine(), async () => {
      throw functionError('plan_too_long')
    })

    const { status, error, cause } = await ended(client, await run(client))

    expect([status, error]).toEqual(['FAILED', 'plan_too_long'])
    expect(JSON.parse(cause ?? '')).toEqual({
      errorType: 'plan_too_long',
      errorMessage: 'plan_too_long happened',
      trace: [],
    })
  })

  test('a failing task is Lambda.Unknown when the fate of its function is unknown', async () => {
    const { client } = await start(taskMachine(), async () => {
      throw new Error('connection lost')
    })

    const { error, cause } = await ended(client, await run(client))

    expect([error, cause]).toEqual(['Lambda.Unknown', expect.stringContaining('connection lost')])
  })

  test('a failing task is repeated by its Retry, and no more', async () => {
    const retry = { ErrorEquals: ['busy'], IntervalSeconds: 0.01, MaxAttempts: 2 }
    let calls = 0
    const { client } = await start(taskMachine({ Retry: [retry] }), async () => {
      calls += 1
      throw functionError('busy')
    })

    expect((await ended(client, await run(client))).error).toBe('busy')
    expect(calls).toBe(3)
  })

  test('AW64: an unanswered wait ends as States.Timeout after its TimeoutSeconds', async () => {
    const { client } = await start(waitMachine({ TimeoutSeconds: 0.05 }), async () => ({}))

    const { status, error } = await ended(client, await run(client))

    expect([status, error]).toEqual(['FAILED', 'States.Timeout'])
  })

  test('AW61: a result beyond 262144 bytes fails the execution, and no Catch helps', async () => {
    const states = { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Only' }] }
    const { client } = await start(taskMachine(states), async () => '😊'.repeat(65_536))

    expect((await ended(client, await run(client))).error).toBe('States.DataLimitExceeded')
  })
})

describe('an execution from outside', () => {
  test('an execution from outside is stopped with a reason, and later results of its functions change nothing', async () => {
    let finish: (value: unknown) => void = () => undefined
    let signalled: AbortSignal | undefined
    const { client } = await start(taskMachine(), (_arn, _payload, signal) => {
      signalled = signal
      return new Promise((resolve) => {
        finish = resolve
      })
    })
    const executionArn = await run(client)
    await vi.waitUntil(() => signalled)

    await client.send(new StopExecutionCommand({ executionArn, error: 'superseded', cause: 'A newer head came.' }))
    finish({ done: true })
    const { stopDate } = await client.send(new StopExecutionCommand({ executionArn, error: 'again' }))
    const description = await ended(client, executionArn)

    expect(description).toMatchObject({ status: 'ABORTED', error: 'superseded', cause: 'A newer head came.', stopDate })
    expect(description.output).toBeUndefined()
    expect(signalled?.aborted).toBe(true)
  })

  test('an endless execution fails at 25000 events, and its journal stops growing', async () => {
    const states = { A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Pass', Next: 'A' } }
    const { client } = await start({ StartAt: 'A', States: states }, async () => ({}))

    const { status, error } = await ended(client, await run(client))

    expect([status, error]).toEqual(['FAILED', 'States.Runtime'])
  })
})
