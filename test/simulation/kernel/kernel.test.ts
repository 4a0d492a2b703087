/** The simulated world: one seed is one history, and every replacement behaves like the real thing. */
import { setTimeout as realTimeout } from 'node:timers/promises'
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, describe, expect, test } from 'vitest'
import { withDeadline } from '../../../shared/aws/client.ts'
import type { SimulatedService, WireRequest } from '../services/service.ts'
import { newActor } from './actor.ts'
import type { Handler } from './bundle.ts'
import type { InvocationEnd } from './container.ts'
import { type Fate, noFaults, type Sent } from './faults.ts'
import { type Kernel, openKernel } from './kernel.ts'
import type { Random } from './random.ts'

const STARTS_AT = Date.UTC(2020, 0, 1)
let open: Kernel | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

/** A table with one counter, and documents by their path. */
function services() {
  const documents = new Map<string, string>()
  let count = 0
  const json = { 'content-type': 'application/x-amz-json-1.0' }
  const table: SimulatedService = {
    answer({ headers }) {
      if (headers['x-amz-target']?.endsWith('UpdateItem')) count += 1
      const item = { Attributes: { count: { N: String(count) } }, Item: { count: { N: String(count) } } }
      return { status: 200, headers: json, body: JSON.stringify(item) }
    },
  }
  const bucket: SimulatedService = {
    answer({ method, path, body }: WireRequest) {
      if (method === 'PUT') documents.set(path.replace(/\?.*/, ''), body)
      const found = documents.get(path.replace(/\?.*/, ''))
      return { status: found === undefined ? 404 : 200, headers: {}, body: method === 'GET' ? (found ?? '') : '' }
    },
  }
  return { table, bucket, count: () => count }
}

type Options = { seed?: number; fateOf?: (sent: Sent, usual: Fate, random: Random) => Fate; skewMs?: number }

/** A world with these services, and one handler in place of every room's handler. */
function world(handler: Handler, { seed = 1, fateOf = (_sent, usual) => usual, skewMs = 0 }: Options = {}) {
  const { table, bucket, count } = services()
  const web: SimulatedService = { answer: ({ body }) => ({ status: 200, headers: {}, body: `heard ${body}` }) }
  const kernel = openKernel({
    seed,
    startsAt: STARTS_AT,
    services: () => ({
      table: { host: '192.0.2.1', variable: 'AWS_ENDPOINT_URL_DYNAMODB', service: table },
      documents: { host: '192.0.2.2', variable: 'AWS_ENDPOINT_URL_S3', service: bucket },
      web: { host: '192.0.2.3', service: web },
    }),
    faults: (random) => ({ fateOf: (sent) => fateOf(sent, noFaults().fateOf(sent), random) }),
    functions: () => ({
      coldStart: () => handler,
      environmentOf: () => ({}),
      hooksOf: () => ({
        lensOf: () => Promise.reject(new Error('no lens')),
        log: () => undefined,
        reached: () => undefined,
      }),
      skewMs: () => skewMs,
      coldStarts: () => false,
    }),
  })
  open = kernel
  return {
    ...kernel,
    count,
    /** Invokes the room and runs the world until the invocation ends or no event is left. */
    async invoke(event: unknown = {}): Promise<InvocationEnd | undefined> {
      let end: InvocationEnd | undefined
      kernel.functions.invoke('plan', JSON.stringify(event), (ended) => {
        end = ended
      })
      await kernel.timeline.run(kernel.timeline.now + 3_600_000, () => end !== undefined)
      return end
    },
  }
}

const resultOf = (end: InvocationEnd | undefined) => (end?.kind === 'result' ? JSON.parse(end.json) : end)
const tableClient = () => new DynamoDBClient({ requestHandler: withDeadline() })
const aKey = { TableName: 't', Key: { pk: { S: 'A' } } }

describe('seeds', () => {
  const busy: Handler = async () => {
    const client = tableClient()
    const bucket = new S3Client({ requestHandler: withDeadline() })
    const writes = Array.from({ length: 8 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
      await client.send(new UpdateItemCommand(aKey))
      await bucket.send(new PutObjectCommand({ Bucket: 'b', Key: `${index}`, Body: Buffer.from(crypto.randomUUID()) }))
      const { Body } = await bucket.send(new GetObjectCommand({ Bucket: 'b', Key: `${index}` }))
      const text = await Body?.transformToString()
      const response = await fetch('http://192.0.2.3/', { method: 'POST', body: `${text} at ${Date.now()}` })
      return response.text()
    })
    return Promise.all(writes)
  }
  const lossy = (_sent: Sent, usual: Fate, random: Random): Fate => ({
    ...usual,
    answerMs: random.below(50),
    ...(random.chance(0.1) ? { lost: { what: 'answer', silently: random.chance(0.5) } } : {}),
  })
  async function digestOf(seed: number) {
    const { invoke, trace, close } = world(busy, { seed, fateOf: lossy })
    await invoke()
    close()
    return { digest: trace.digest(), lines: trace.lines }
  }

  test('one seed gives one history byte for byte, also after worlds with retries', async () => {
    const first = await digestOf(7)
    for (const seed of [1, 2, 3]) await digestOf(seed)
    expect((await digestOf(7)).lines).toEqual(first.lines)
    expect(first.lines.some((line) => line.includes('loses its answer'))).toBe(true)
  })

  test('another seed gives another history', async () => {
    expect((await digestOf(1)).digest).not.toBe((await digestOf(2)).digest)
  })
})

describe('the wire', () => {
  const once = (fate: Partial<Fate>) => {
    let calls = 0
    return (_sent: Sent, usual: Fate): Fate => {
      calls += 1
      return calls === 1 ? { ...usual, ...fate } : usual
    }
  }
  const update: Handler = async () => {
    const { Attributes } = await tableClient().send(new UpdateItemCommand(aKey))
    return [Attributes?.count?.N, Date.now() - STARTS_AT]
  }

  test.each([
    ['an answer that is lost by a reset is asked for again at once', { what: 'answer', silently: false }, '2', 1_000],
    ['an answer that is lost silently, after the deadline of the call', { what: 'answer', silently: true }, '2', 6_000],
    ['a request that is lost had no effect', { what: 'request', silently: false }, '1', 1_000],
  ] as const)('%s', async (_what, lost, count, withinMs) => {
    const [counted, tookMs] = resultOf(await world(update, { fateOf: once({ lost }) }).invoke())
    expect(counted).toBe(count)
    expect(tookMs).toBeLessThan(withinMs)
  })

  test('the SDK retries a throttle on the way, and the request reached the service only once', async () => {
    const instead = {
      status: 400,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'Rate' }),
    }
    const { invoke, count } = world(update, { fateOf: once({ instead }) })
    expect(resultOf(await invoke())[0]).toBe('1')
    expect(count()).toBe(1)
  })

  test('a request repeated by the network takes effect twice', async () => {
    const { invoke, count, timeline } = world(update, { fateOf: once({ againMs: 500 }) })
    await invoke()
    await timeline.run(timeline.now + 1_000)
    expect(count()).toBe(2)
  })

  test('fetch reports a reset like Node.js, and an abort before the answer with its own reason', async () => {
    const twice: Handler = async () => {
      const failure = await fetch('http://192.0.2.3/').catch((error: Error & { cause?: { code?: string } }) => error)
      const signal = AbortSignal.timeout(1)
      const abort = await fetch('http://192.0.2.3/', { signal }).catch((error: Error) => error)
      return failure instanceof Error && abort instanceof Error
        ? [failure.message, (failure.cause as { code: string }).code, abort.name]
        : []
    }
    const fateOf = once({ lost: { what: 'answer', silently: false } })
    expect(resultOf(await world(twice, { fateOf }).invoke())).toEqual(['fetch failed', 'ECONNRESET', 'TimeoutError'])
  })
})

describe('death of a process', () => {
  const reading: Handler = async () => {
    const client = tableClient()
    setTimeout(() => void client.send(new UpdateItemCommand(aKey)), 10)
    return (await client.send(new GetItemCommand(aKey))).Item
  }
  const dying = (kill: 'before' | 'after') => world(reading, { fateOf: (_sent, usual) => ({ ...usual, kill }) })

  test.each(['before', 'after'] as const)(
    'a process that dies %s its request fails its invocation, and nothing more arrives',
    async (kill) => {
      const { invoke, count, functions, timeline } = dying(kill)
      expect(await invoke()).toMatchObject({ kind: 'error', errorType: 'Runtime.ExitError' })
      await timeline.run(timeline.now + 1_000)
      expect(count()).toBe(0)
      expect(functions.containers.size).toBe(0)
    },
  )

  test.each([
    ['may arrive', true, 1],
    ['or not', false, 0],
  ])('a dead process’s request under way %s', async (_what, survivesSender, expected) => {
    const writing: Handler = () => tableClient().send(new UpdateItemCommand(aKey))
    const { functions, timeline, count } = world(writing, {
      fateOf: (_sent, usual) => ({ ...usual, requestMs: 100, survivesSender }),
    })
    functions.invoke('plan', '{}', () => undefined)
    await timeline.run(timeline.now + 50)
    for (const { actor } of [...functions.containers]) functions.kill(actor)
    await timeline.run(timeline.now + 1_000)
    expect(count()).toBe(expected)
  })
})

describe('containers', () => {
  test('a container ends at the timeout of its room', async () => {
    const end = await world(() => new Promise(() => undefined)).invoke()
    expect(end).toMatchObject({ kind: 'error', errorType: 'Sandbox.Timedout' })
  })

  test.each(['by a timeout', 'by a kill'])(
    'a container that is ended %s names the invocation that died',
    async (how) => {
      const ids: string[] = []
      const { invoke, functions, timeline } = world((_event, context) => {
        ids.push((context as { awsRequestId: string }).awsRequestId)
        return ids.length === 1 ? Promise.resolve() : new Promise(() => undefined)
      })
      await invoke()
      const died = invoke()
      if (how === 'by a kill') {
        timeline.after(10, newActor('people'), () => {
          for (const { actor } of [...functions.containers]) functions.kill(actor)
        })
      }
      const end = await died
      expect(end).toMatchObject({ errorMessage: expect.stringMatching(new RegExp(`^RequestId: ${ids[1]} Error: `)) })
    },
  )

  test('a container answers the name of a thrown error, and goes on with its next event', async () => {
    let calls = 0
    const { invoke, functions } = world(() => {
      calls += 1
      if (calls === 1) throw Object.assign(new Error('no'), { name: 'stale_fence' })
      return calls
    })
    expect(await invoke()).toMatchObject({ kind: 'error', errorType: 'stale_fence' })
    expect(resultOf(await invoke())).toBe(2)
    expect(functions.containers.size).toBe(1)
  })

  test('a container does nothing between two events, and resumes earlier work with the next event', async () => {
    const seen: number[] = []
    const { invoke, timeline } = world(() => {
      setTimeout(() => seen.push(timeline.now - STARTS_AT), 1_000)
      return new Promise((resolve) => setTimeout(resolve, 10))
    })
    await invoke()
    await timeline.run(STARTS_AT + 60_000)
    expect(seen).toEqual([])
    await invoke()
    expect(seen.map((ms) => Math.round(ms / 1000))).toEqual([60])
  })

  test('a container has its own clock, and measures and waits at the world’s pace', async () => {
    const timing: Handler = async () => {
      const [startedAt, started] = [Date.now(), performance.now()]
      await new Promise((resolve) => setTimeout(resolve, 250))
      return [Date.parse(new Date().toISOString()) - startedAt, performance.now() - started, startedAt - STARTS_AT]
    }
    expect(resultOf(await world(timing, { skewMs: 300_000 }).invoke())).toEqual([250, 250, 300_001])
  })
})

test('a paused process resumes with the arrived answer, then with its timers in order', async () => {
  const pauseMs = 60_000
  const waiting: Handler = async () => {
    const done: string[] = []
    setTimeout(() => done.push('second'), 20)
    setTimeout(() => done.push('first'), 10)
    const before = Date.now()
    await tableClient().send(new GetItemCommand(aKey))
    done.push(`answered after ${Date.now() - before} ms`)
    await new Promise((resolve) => setTimeout(resolve, 1))
    return done
  }
  const fateOf = (_sent: Sent, usual: Fate): Fate => ({ ...usual, requestMs: 2, answerMs: 3, pauseMs })
  expect(resultOf(await world(waiting, { fateOf }).invoke())).toEqual([
    `answered after ${pauseMs + 5} ms`,
    'first',
    'second',
  ])
})

test('real code keeps the real clock, timers and network while a world is open and after its end', async () => {
  const { close } = world(() => undefined)
  expect(Date.now()).toBeGreaterThan(STARTS_AT + 1_000)
  await realTimeout(1)
  const before = { Date, setTimeout, fetch, random: Math.random }
  close()
  open = undefined
  for (const [name, replaced] of Object.entries(before)) expect(replaced, name).not.toBe(globalThis[name as 'Date'])
  expect(process.env.AWS_ENDPOINT_URL_DYNAMODB).toBeUndefined()
  expect(Date.now()).toBeGreaterThan(STARTS_AT + 1_000)
})
