import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Answered, ask } from '../../../../functions/review/models/ask.ts'
import { MODEL_ERROR_BYTES_MAX } from '../../../../shared/base/limits.ts'
import { byteLength } from '../../../../shared/base/text.ts'
import type { ModelChoice } from '../../../../shared/findings/lens.ts'
import { answers, type ModelTurn, modelStandIn, STAND_IN_USAGE } from './model-stand-in.ts'

const schema = z.object({ colour: z.enum(['red', 'green']) })

function question(
  model: ModelChoice,
  signal = new AbortController().signal,
): Promise<Answered<z.infer<typeof schema>>> {
  return ask({ model, instructions: 'Name the colour.', prompt: 'An unripe apple.', schema, signal })
}

/** The failure of a question to a model with this script. */
async function failure(turn: ModelTurn, ...more: ModelTurn[]) {
  await using model = await modelStandIn(turn, ...more)
  const error: unknown = await question(model.choice()).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { error, calls: model.requests.length }
}

/** Reported calls of a question. */
async function heardOf(...script: readonly [ModelTurn, ...ModelTurn[]]): Promise<string[]> {
  await using model = await modelStandIn(...script)
  const heard: string[] = []
  const calls = { asked: () => void heard.push('asked'), answered: () => void heard.push('answered') }
  await question(model.choice({ calls })).catch(() => undefined)
  return heard
}

describe('the reporter of model calls', () => {
  const noSchema = { error: { message: "'response_format.type' must be 'text'" } }

  test.each<[string, readonly [ModelTurn, ...ModelTurn[]], readonly string[]]>([
    ['is answered', [answers({ colour: 'green' })], ['asked', 'answered']],
    ['is answered in another shape', [answers({ colour: 'blue' })], ['asked', 'answered', 'asked', 'answered']],
    ['is answered with no JSON', [{ kind: 'answer', content: 'Green.' }], ['asked', 'answered', 'asked', 'answered']],
    ['is throttled', [{ kind: 'status', status: 429 }], ['asked']],
    ['gets no answer', [{ kind: 'drop' }], ['asked']],
    [
      'is told to leave the schema out',
      [{ kind: 'status', status: 400, body: noSchema }, answers({ colour: 'red' })],
      ['asked', 'asked', 'answered'],
    ],
  ])('L1: the reporter hears a call that %s', async (_what, script, heard) => {
    expect(await heardOf(...script)).toEqual(heard)
  })
})

describe('an answer', () => {
  test('an answer has the wanted shape, and its tokens', async () => {
    await using model = await modelStandIn(answers({ colour: 'green' }))
    expect(await question(model.choice({ apiKey: 'the-key' }))).toEqual({
      answer: { colour: 'green' },
      usage: { model: 'stand-in', ...STAND_IN_USAGE },
    })
    expect(model.requests[0]?.authorization).toBe('Bearer the-key')
  })

  test('an answer is requested with the schema in the request and in the instructions, once', async () => {
    await using model = await modelStandIn(answers({ colour: 'green' }))
    await question(model.choice())
    const [request] = model.requests
    expect(request?.body.response_format?.type).toBe('json_schema')
    expect(JSON.stringify(request?.body.response_format?.json_schema?.schema)).toContain('colour')
    expect(String(request?.body.messages[0]?.content)).toContain('"colour"')
    expect(request?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'An unripe apple.' })
    expect(model.requests).toHaveLength(1)
  })

  test('an answer is found in reasoning, prose and a code fence', async () => {
    const content = '<think>{"colour": "red"}?</think>Here it is:\n```json\n{"colour": "green"}\n```\nDone.'
    await using model = await modelStandIn({ kind: 'answer', content })
    expect((await question(model.choice())).answer).toEqual({ colour: 'green' })
    expect(model.requests).toHaveLength(1)
  })

  test('an endpoint that takes no schema answers without the schema', async () => {
    const refusal = { error: { message: "'response_format.type' must be 'text'" } }
    await using model = await modelStandIn({ kind: 'status', status: 400, body: refusal }, answers({ colour: 'red' }))
    expect((await question(model.choice())).answer).toEqual({ colour: 'red' })
    expect(model.requests[1]?.body.response_format).toBeUndefined()
  })

  test('an answer of another shape is requested once more, and both calls are paid for', async () => {
    await using model = await modelStandIn(answers({ colour: 'blue' }), answers({ colour: 'red' }))
    const { answer, usage } = await question(model.choice())
    expect(answer).toEqual({ colour: 'red' })
    expect(usage.inputTokens).toBe(2 * STAND_IN_USAGE.inputTokens)
    expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toMatch(/could not be used: .*colour/)
  })
})

describe('a failure', () => {
  test.each([
    ['no JSON', { kind: 'answer', content: 'I think it is green.' }],
    ['JSON that ends early', { kind: 'answer', content: '{"colour": "gre' }],
    ['nothing', { kind: 'answer', content: '' }],
    ['null', { kind: 'answer', content: null }],
    ['another shape', answers({ color: 'green' })],
  ] satisfies [string, ModelTurn][])('J1: %s, twice, is model_reply_invalid', async (_, turn) => {
    const { error, calls } = await failure(turn)
    expect(error).toMatchObject({ name: 'refused', code: 'model_reply_invalid' })
    expect(calls).toBe(2)
  })

  test.each([
    ['in the middle', '{"colour": "gr'],
    ['after a whole answer', '{"colour": "green"}'],
    ['before it began', ''],
  ])('J2: an answer cut at its limit %s is model_reply_cut, never an answer', async (_, content) => {
    const { error, calls } = await failure({ kind: 'answer', content, finishReason: 'length' })
    expect(error).toMatchObject({ name: 'refused', code: 'model_reply_cut' })
    expect(calls).toBe(1)
  })

  test('an answer stopped by a content filter is model_refused', async () => {
    const { error } = await failure({ kind: 'answer', content: '{"colour": "green"}', finishReason: 'content_filter' })
    expect(error).toMatchObject({ name: 'refused', code: 'model_refused' })
  })

  test.each([
    [401, /API key/],
    [403, /access/],
    [404, /base URL|name/],
    [400, /protocol/],
    [413, /context/],
  ])('status %d is model_refused with its remedy, and is not tried again', async (status, remedy) => {
    const { error, calls } = await failure({ kind: 'status', status })
    expect(error).toMatchObject({ name: 'refused', code: 'model_refused', remedy: expect.stringMatching(remedy) })
    expect(calls).toBe(1)
  })

  test('L1: status 429 is model_throttled with the time that the endpoint names', async () => {
    const { error, calls } = await failure({ kind: 'status', status: 429, headers: { 'retry-after': '17' } })
    expect(error).toMatchObject({ name: 'retry', code: 'model_throttled', afterMs: 17_000 })
    expect(calls).toBe(1)
  })

  test('L1: status 429 without a time is tried again when a quota by the minute has refilled', async () => {
    const { error } = await failure({ kind: 'status', status: 429, headers: { 'retry-after': 'soon' } })
    expect(error).toMatchObject({ name: 'retry', code: 'model_throttled', afterMs: 60_000 })
  })

  test.each([
    ['529', { kind: 'status', status: 529 }],
    ['503 that names a time', { kind: 'status', status: 503, headers: { 'retry-after': '9' } }],
    [
      '503 that says so',
      { kind: 'status', status: 503, body: { error: { type: 'overloaded_error', message: 'Later.' } } },
    ],
    [
      '429 of a rate',
      { kind: 'status', status: 429, body: { error: { code: 'rate_limit_exceeded', message: 'quota' } } },
    ],
    [
      '429 of a rate called a quota',
      { kind: 'status', status: 429, body: { error: { code: 'Throttling.RateQuota' } } },
    ],
    ['429 with a number for a code', { kind: 'status', status: 429, body: { error: { code: 429, message: 'quota' } } }],
  ] satisfies [string, ModelTurn][])('L1: an endpoint without capacity (%s) is model_throttled', async (_, turn) => {
    expect((await failure(turn)).error).toMatchObject({ name: 'retry', code: 'model_throttled' })
  })

  test.each([
    ['402', { kind: 'status', status: 402 }],
    ['429 by its code', { kind: 'status', status: 429, body: { error: { code: 'insufficient_quota', message: 'm' } } }],
    ['429 by its type', { kind: 'status', status: 429, body: { error: { type: 'insufficient_quota', message: 'm' } } }],
    ['429 of billing', { kind: 'status', status: 429, body: { error: { code: 'billing_hard_limit_reached' } } }],
  ] satisfies [string, ModelTurn][])('L2: a used-up quota (%s) is not waited for', async (_, turn) => {
    const { error, calls } = await failure(turn)
    expect(error).toMatchObject({
      name: 'refused',
      code: 'model_quota_exhausted',
      remedy: expect.stringMatching(/credit|quota/),
    })
    expect(calls).toBe(1)
  })

  test.each([
    ['status 503', { kind: 'status', status: 503 }],
    ['a closed connection', { kind: 'drop' }],
  ] satisfies [string, ModelTurn][])('%s is model_unreachable', async (_, turn) => {
    expect((await failure(turn)).error).toMatchObject({ name: 'retry', code: 'model_unreachable' })
  })

  test('a page instead of the protocol says that the base URL is wrong', async () => {
    const { error } = await failure({ kind: 'status', status: 200, body: '<html>welcome</html>' })
    expect(error).toMatchObject({
      name: 'refused',
      code: 'model_reply_invalid',
      remedy: expect.stringMatching(/base URL/),
    })
  })

  test('an endpoint without a server is model_unreachable', async () => {
    const model = await modelStandIn({ kind: 'hang' })
    await model[Symbol.asyncDispose]()
    await expect(question(model.choice())).rejects.toMatchObject({ name: 'retry', code: 'model_unreachable' })
  })

  test('a call without an answer ends at its deadline', async () => {
    await using model = await modelStandIn({ kind: 'hang' })
    await expect(question(model.choice({ timeoutMs: 50 }))).rejects.toMatchObject({
      name: 'retry',
      code: 'model_unreachable',
      message: expect.stringContaining('50 ms'),
    })
  })

  test('AW38: an aborted question ends at once with the reason of its signal, not as a failure of the model', async () => {
    await using model = await modelStandIn({ kind: 'hang' })
    const abort = new AbortController()
    const asked = question(model.choice(), abort.signal)
    await model.arrived(1)
    const reason = new Error('the lease is lost')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })

  test('AW91: an endpoint’s words about an error are bounded and hold no key', async () => {
    const apiKey = ['s', 'k-', 'q7Rt2Wz9Lk4Xv8Bn3Mc6Pd1Fg5Hj0Ys2'].join('')
    const body = { error: { message: `Incorrect API key ${apiKey}. ${'x'.repeat(10_000)}` } }
    await using model = await modelStandIn({ kind: 'status', status: 401, body })
    const error: unknown = await question(model.choice({ apiKey })).catch((thrown: unknown) => thrown)
    const message = error instanceof Error ? error.message : ''
    expect(message).toContain('Incorrect API key [key]')
    expect(message).not.toContain(apiKey.slice(0, 12))
    expect(byteLength(message)).toBeLessThan(MODEL_ERROR_BYTES_MAX + 200)
  })
})
