/** The guarantees of the local runtime for functions and their callers. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FunctionError, type LocalFunctions, startFunctions } from '../../../../infra/local/functions/functions.ts'

const bundle = new URL('./handlers.mjs', import.meta.url).pathname
const arn = 'arn:aws:lambda:local:000000000000:function:under-test'

let functions: LocalFunctions | undefined

afterEach(async () => {
  await functions?.close()
  functions = undefined
})

interface Given {
  readonly environment?: Record<string, string>
  readonly timeoutMs?: number
  readonly concurrencyMax?: number
  readonly onLog?: (functionName: string, line: string) => void
}

function start(handler: string, given: Given = {}): LocalFunctions {
  const { environment = {}, timeoutMs = 20_000, concurrencyMax = 1, onLog } = given
  functions = startFunctions(
    [{ name: 'under-test', arn, bundle, handler, environment, timeoutMs, concurrencyMax }],
    onLog ? { onLog } : {},
  )
  return functions
}

async function failureOf(invocation: Promise<unknown>): Promise<{ errorType: string; errorMessage: string }> {
  const error = await invocation.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(FunctionError)
  const { errorType, errorMessage } = error as FunctionError
  return { errorType, errorMessage }
}

describe('an event', () => {
  test('an event and its result make a round trip through JSON, and the context is as on Lambda', async () => {
    const { invoke } = start('echo', { timeoutMs: 20_000 })

    const result = await invoke(arn, { at: new Date(0), gone: undefined, text: 'ä\u2028' })

    expect(result).toMatchObject({
      event: { at: '1970-01-01T00:00:00.000Z', text: 'ä\u2028' },
      context: { functionName: 'under-test', invokedFunctionArn: arn, memoryLimitInMB: '256' },
    })
    const { context, event } = result as { context: Record<string, unknown>; event: object }
    expect(event).not.toHaveProperty('gone')
    expect(context.awsRequestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(context.remainingMs).toBeGreaterThan(15_000)
    expect(context.remainingMs).toBeLessThanOrEqual(20_000)
  })

  test('an event without a result results in null', async () => {
    expect(await start('nothing').invoke('under-test', {})).toBeNull()
  })

  test('an event larger than Lambda takes is refused, and so is a larger result', async () => {
    const { invoke } = start('large')

    expect((await failureOf(invoke(arn, { text: 'x'.repeat(6 * 1024 * 1024) }))).errorType).toBe(
      'Lambda.RequestEntityTooLargeException',
    )
    expect((await failureOf(invoke(arn, { characters: 6 * 1024 * 1024 + 200 }))).errorType).toBe(
      'Function.ResponseSizeTooLarge',
    )
  })

  test('an event for an unknown function is refused by name', async () => {
    const { errorType, errorMessage } = await failureOf(start('echo').invoke('another', {}))

    expect(errorType).toBe('Lambda.ResourceNotFoundException')
    expect(errorMessage).toContain('under-test')
  })
})

describe('the environment', () => {
  test('the environment is the function’s configuration, without the variables of this process', async () => {
    process.env.CANARY_OF_THE_PARENT = 'leaked'
    const { invoke } = start('echo', { environment: { TABLE_NAME: 'ledger' } })

    const { environment } = (await invoke(arn, {})) as { environment: Record<string, string> }
    delete process.env.CANARY_OF_THE_PARENT

    expect(environment.TABLE_NAME).toBe('ledger')
    expect(Object.keys(environment).filter((name) => !name.startsWith('AWS_'))).toEqual(['TZ', 'TABLE_NAME'])
  })
})

describe('workers', () => {
  test('workers stay warm, handle one event at a time, and take the next in the order of the calls', async () => {
    const { invoke, coldStarts } = start('slow')
    const order: number[] = []

    const results = await Promise.all(
      [30, 1, 1, 1].map(async (ms, n) => {
        const result = await invoke(arn, { ms, n })
        order.push(n)
        return result
      }),
    )

    expect(order).toEqual([0, 1, 2, 3])
    expect(results).toEqual([0, 1, 2, 3].map((n) => ({ runningMost: 1, events: n + 1, n })))
    expect(coldStarts('under-test')).toBe(1)
  })

  test('workers are as many as events at once, up to concurrencyMax', async () => {
    const { invoke, coldStarts } = start('slow', { concurrencyMax: 2 })

    await Promise.all([1, 2, 3, 4].map((n) => invoke(arn, { ms: 20, n })))

    expect(coldStarts(arn)).toBe(2)
  })

  test('workers end after 20 seconds without work, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { invoke } = start('echo')
      await invoke(arn, {})
      vi.advanceTimersByTime(19_900)
      const warm = await invoke(arn, {})
      vi.advanceTimersByTime(20_100)
      const cold = await invoke(arn, {})

      expect([warm, cold]).toMatchObject([{ events: 2 }, { events: 1 }])
    } finally {
      vi.useRealTimers()
    }
  })

  test('workers drop a waiting call after its abort, and finish an event at work', async () => {
    const { invoke } = start('slow')
    const waiting = new AbortController()
    const handled = new AbortController()

    const first = invoke(arn, { ms: 50, n: 1 }, handled.signal)
    const second = invoke(arn, { ms: 1, n: 2 }, waiting.signal)
    waiting.abort(new Error('not needed any more'))
    handled.abort(new Error('not waited for any more'))

    await expect(second).rejects.toThrow('not needed any more')
    await expect(first).rejects.toThrow('not waited for any more')
    expect(await invoke(arn, { ms: 1, n: 3 })).toMatchObject({ events: 2, n: 3 })
  })
})

describe('an error', () => {
  test('AW68: an error keeps the literal name and the message, and nothing else comes back', async () => {
    const { invoke, coldStarts } = start('fails')

    expect(await failureOf(invoke(arn, { name: 'stale_fence' }))).toEqual({
      errorType: 'stale_fence',
      errorMessage: 'Someone else holds it.',
    })
    expect((await failureOf(invoke(arn, { name: 'retry' }))).errorType).toBe('retry')
    expect(coldStarts(arn)).toBe(1)
  })

  test.each([
    ['throwsText', 'string', 'plain text'],
    ['circular', 'Runtime.MarshalError', 'Unable to stringify response body'],
    ['missing', 'Runtime.HandlerNotFound', 'index.missing is undefined or not exported'],
  ])('an error of the kind %s has Lambda’s type', async (handler, errorType, errorMessage) => {
    expect(await failureOf(start(handler).invoke(arn, {}))).toEqual({ errorType, errorMessage })
  })

  test('an error reports a bundle that cannot be loaded', async () => {
    functions = startFunctions([
      {
        name: 'x',
        arn,
        bundle: `${bundle}.gone`,
        handler: 'echo',
        environment: {},
        timeoutMs: 9_000,
        concurrencyMax: 1,
      },
    ])

    expect((await failureOf(functions.invoke(arn, {}))).errorMessage).toContain('.gone')
  })

  test('a timeout ends the worker, even in an endless loop, and the next call gets a new worker', async () => {
    const { invoke, coldStarts } = start('spins', { timeoutMs: 50 })

    const { errorType, errorMessage } = await failureOf(invoke(arn, {}))

    expect(errorType).toBe('Sandbox.Timedout')
    expect(errorMessage).toContain('Task timed out after 0.05 seconds')
    expect((await failureOf(invoke(arn, {}))).errorType).toBe('Sandbox.Timedout')
    expect(coldStarts(arn)).toBe(2)
  })

  test.each(['exits', 'rejectsInBackground', 'leaks'])(
    'of a worker that ends by itself (%s) is Runtime.ExitError, and this process goes on',
    async (handler) => {
      const lines: string[] = []
      const { invoke } = start(handler, { onLog: (_name, line) => lines.push(line) })

      expect((await failureOf(invoke(arn, {}))).errorType).toBe('Runtime.ExitError')
      if (handler === 'rejectsInBackground') expect(lines.join('\n')).toContain('nobody waits for this')
    },
  )

  test.each(['exits', 'spins'])('of a worker that %s names the invocation that died', async (how) => {
    const directory = mkdtempSync(join(tmpdir(), 'functions-'))
    try {
      const path = join(directory, 'id')
      const { invoke } = start('diesNamed', { timeoutMs: 500 })

      const { errorMessage } = await failureOf(invoke(arn, { how, path }))

      expect(errorMessage).toMatch(new RegExp(`^RequestId: ${readFileSync(path, 'utf8')} Error: `))
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('every waiting call gets an error when the runtime closes', async () => {
    const { invoke, close } = start('slow')
    const handled = failureOf(invoke(arn, { ms: 60_000 }))
    const waiting = failureOf(invoke(arn, { ms: 1 }))

    await close()

    expect((await handled).errorType).toBe('Runtime.ExitError')
    expect((await waiting).errorType).toBe('Lambda.ServiceException')
    expect((await failureOf(invoke(arn, {}))).errorType).toBe('Lambda.ServiceException')
  })
})

test('every line that a function prints comes out under its name', async () => {
  const lines: string[] = []
  const { invoke } = start('prints', { onLog: (name, line) => lines.push(`${name}: ${line}`) })

  await invoke(arn, { line: 'first' })

  await vi.waitUntil(() => lines.length === 3)
  expect(lines.sort()).toEqual(['under-test: first', 'under-test: second', 'under-test: third'])
})
