/** The webhook: the answers to signed deliveries, and their effects. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installationId } from '../../infra/local/github/identity.ts'
import { type Muster, patientTests, startMuster, type TestPullRequest, type TestRepository } from './harness.ts'
import { headersOf, payloadOf, signatureOf } from './webhooks.ts'
import { action, route } from './wire.ts'

patientTests()

let muster: Muster
let repository: TestRepository
let pullRequest: TestPullRequest

beforeAll(async () => {
  muster = await startMuster()
  repository = await muster.repository('door')
  pullRequest = await muster.open(repository, { 'src/a.ts': 'export const a = 1\n' })
  await muster.ended(pullRequest)
})
afterAll(() => muster?.close())

/** A payload about the existing pull request; another number is unknown to GitHub. */
const payload = (more: Partial<Parameters<typeof payloadOf>[0]> = {}) =>
  payloadOf({ repository, number: pullRequest.number, head: pullRequest.head, ...more })
/** A payload about an existing pull request without any run: its draft was ignored. */
async function untold(name: string): Promise<string> {
  const made = await muster.repository(name)
  const draft = await muster.open(made, { 'src/b.ts': 'export const b = 1\n' }, { draft: true })
  const { number, head } = draft
  await muster.answered(draft)
  return payload({ repository: made, number, head, installationId: installationId(made.owner) })
}
const executionsOf = async (name: string) =>
  (await muster.aws.executions()).filter((execution) => execution.name?.includes(`-${name}-pr1-`))
const codeOf = ({ body }: { body: Record<string, unknown> }) => (body.error as { code?: string } | undefined)?.code
const linesAbout = (deliveryId: string) => muster.lines.filter(({ text }) => text.includes(deliveryId))

describe('the signature', () => {
  it('AW1: a signature covers the exact bytes; the same JSON in another form is refused', async () => {
    const raw = '{"a":1 }'
    const signature = signatureOf(muster.webhookSecret, raw)
    const rewritten = await muster.deliver(JSON.stringify(JSON.parse(raw)), { signature })
    expect([rewritten.status, codeOf(rewritten)]).toEqual([401, 'signature_mismatch'])
    // Past the signature: the content is the reason of this refusal.
    expect(codeOf(await muster.deliver(raw, { signature }))).toBe('payload_invalid')
  })

  it.each(['{"t":"\\u003cp\\u003e"}', '{"n":1.0}'])(
    'AW2: holds for bytes that JSON would write otherwise: %s',
    async (raw) => {
      expect(await muster.deliver(raw)).toMatchObject({ status: 422, body: { error: { code: 'payload_invalid' } } })
    },
  )

  it('AW5: a byte order mark counts for the signature; such a body is then malformed, not unsigned', async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')])
    expect(await muster.deliver(body)).toMatchObject({ status: 400, body: { error: { code: 'malformed_body' } } })
  })

  it('AW7: a signature by SHA-1 alone is none', async () => {
    const answer = await muster.deliver(payload(), {
      signature: null,
      headers: { 'x-hub-signature': `sha1=${randomBytes(20).toString('hex')}` },
    })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'signature_missing'])
  })

  it('AW8: a wrong signature is a handled 401, and neither signature nor body is logged', async () => {
    const id = randomUUID()
    const forged = randomBytes(32).toString('hex')
    const body = payload({ title: 'a title that stays out of the log' })
    const answer = await muster.deliver(body, { id, signature: `sha256=${forged}` })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'signature_mismatch'])
    await muster.until('a log line about the delivery', () => linesAbout(id).length > 0)
    const log = muster.lines.map(({ text }) => text).join('\n')
    for (const secret of ['sha256=', forged, muster.webhookSecret, 'a title that stays out of the log']) {
      expect(log).not.toContain(secret)
    }
  })

  it('AW10: a mismatch is explained by length, content type, base64 flag and the version of the secret', async () => {
    const id = randomUUID()
    const body = payload()
    await muster.deliver(body, { id, signature: signatureOf('another secret', body) })
    const [line] = await muster.until('the line about the mismatch', () => {
      const lines = linesAbout(id)
      return lines.length > 0 && lines
    })
    expect(JSON.parse(line?.text ?? '')).toMatchObject({
      bytes: Buffer.byteLength(body),
      contentType: 'application/json',
      base64: false,
      secretVersion: expect.stringMatching(/.+/),
    })
  })

  it('AW4: a base64 body is decoded on the flag alone', async () => {
    const body = payload({ title: 'größer' })
    const headers = headersOf(muster.webhookSecret, body)
    const invoke = (event: object) => muster.stack.functions.invoke('webhook', { headers, ...event })
    const base64 = Buffer.from(body).toString('base64')
    const answers = [
      await invoke({ body, isBase64Encoded: false }),
      await invoke({ body: base64, isBase64Encoded: true }),
      await invoke({ body: base64, isBase64Encoded: false }),
    ]
    expect(answers.map((answer) => (answer as { statusCode: number }).statusCode)).toEqual([202, 202, 401])
  })
})

describe('the body', () => {
  it('AW22: a body is accepted by its media type, whatever the parameters; a form is refused', async () => {
    const json = await muster.deliver(payload(), { contentType: 'application/json; charset=utf-8' })
    expect(json.status).toBe(202)
    const form = await muster.deliver(payload(), { contentType: 'application/x-www-form-urlencoded' })
    expect([form.status, codeOf(form)]).toEqual([415, 'unsupported_media_type'])
  })

  it('AW35: a body without a head or an installation is refused, and nothing is written', async () => {
    const number = 4_711
    const noHead = await muster.deliver(payload({ number, head: undefined }))
    const noInstallation = await muster.deliver(payload({ number, installationId: null }))
    expect([noHead.status, codeOf(noHead)]).toEqual([422, 'identity_missing'])
    expect([noInstallation.status, codeOf(noInstallation)]).toEqual([422, 'identity_missing'])
    expect((await muster.aws.executions()).filter(({ name }) => name?.includes('-pr4711-'))).toEqual([])
    expect(await muster.aws.items(`PR#${repository.id}#${number}`)).toEqual([])
  })

  it('every refusal has a code, a sentence and a remedy', async () => {
    const answer = await muster.deliver('no JSON')
    expect(answer).toEqual({
      status: 400,
      body: {
        error: { code: 'malformed_body', message: 'The body is not JSON.', remedy: expect.stringMatching(/\.$/) },
      },
    })
  })

  it.each([
    ['issues', 'opened', 'event_not_handled:issues'],
    ['push', 'none', 'event_not_handled:push'],
    ['pull_request', 'labeled', 'action_not_handled:pull_request.labeled'],
  ])('L11: an event without an action in Muster is answered by its name: %s.%s', async (event, act, reason) => {
    expect(await muster.deliver(payload({ action: act }), { event })).toEqual({
      status: 202,
      body: { status: 'ignored', reason },
    })
  })

  it('AD11: a push to a draft starts nothing, and the answer gives the reason', async () => {
    const answer = await muster.deliver(payload({ number: 9_001, action: 'synchronize', draft: true }))
    expect(answer).toEqual({ status: 202, body: { status: 'ignored', reason: 'draft:pull_request.synchronize' } })
    expect((await muster.aws.executions()).filter(({ name }) => name?.includes('-pr9001-'))).toEqual([])
  })
})

describe('the record', () => {
  it('LE15: the same cause with another payload is a conflict, and changes nothing', async () => {
    const { body } = await muster.answered(pullRequest)
    const key = `RUN#${String(body.run)}`
    const { payloadDigest } = (await muster.aws.item(key, 'RUN')) ?? {}
    await muster.aws.set(key, 'RUN', { payloadDigest: '0'.repeat(64) })
    const before = await muster.aws.item(key, 'RUN')
    const answer = await muster.deliver(payload())
    expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_conflict'])
    expect(await muster.aws.item(key, 'RUN')).toEqual(before)
    await muster.aws.set(key, 'RUN', { payloadDigest })
  })

  it('AW13: an unexpected error of the table is a 5xx: visible, and open to a redelivery', async () => {
    const refusal = { __type: 'com.amazon.coral.validate#ValidationException', message: 'unexpected' }
    const fault = muster.wire.refuse(action('PutItem'), { status: 400, body: refusal })
    const answer = await muster.deliver(payload())
    fault.lift()
    expect(fault.count).toBeGreaterThan(0)
    expect(answer.status).toBe(500)
  })

  it('AW32: a first write with a lost answer is not taken for another writer’s', async () => {
    const body = await untold('lost-write')
    const fault = muster.wire.loseAnswer(action('PutItem'), 1)
    const answer = await muster.deliver(body)
    expect(fault.count).toBe(1)
    expect(answer).toMatchObject({ status: 202, body: { status: 'created', attempt: 1 } })
    await muster.runEnded(String(answer.body.run))
  })

  it('AW11: a table without an answer makes a 503 within GitHub’s ten seconds; the next delivery is the same run', async () => {
    const id = randomUUID()
    const body = await untold('silent-table')
    const fault = muster.wire.hold(action('PutItem'))
    const busy = await muster.deliver(body, { id })
    fault.lift()
    expect([busy.status, codeOf(busy)]).toEqual([503, 'busy'])
    const again = await muster.deliver(body, { id })
    expect(again).toMatchObject({ status: 202, body: { attempt: 1 } })
    await muster.runEnded(String(again.body.run))
    expect(await executionsOf('silent-table')).toHaveLength(1)
  })

  it('AW14, PL5: after a lost answer the same delivery again is a replay of the same run, executed once', async () => {
    const id = randomUUID()
    const body = await untold('lost-answer')
    const fault = muster.wire.loseAnswer(route('POST', /^\/github\/webhook$/), 1)
    await expect(muster.deliver(body, { id })).rejects.toThrow()
    expect(fault.count).toBe(1)
    const again = await muster.deliver(body, { id })
    expect(again).toMatchObject({ status: 202, body: { status: 'replayed', attempt: 1 } })
    const run = await muster.runEnded(String(again.body.run))
    expect(run.deliveries).toEqual([id])
    expect(await executionsOf('lost-answer')).toHaveLength(1)
  })

  it('PL6: two identical deliveries at the same instant are a single run, execution and answer', async () => {
    const id = randomUUID()
    const body = await untold('same-instant')
    const answers = await Promise.all([muster.deliver(body, { id }), muster.deliver(body, { id })])
    expect(answers.map(({ status }) => status)).toEqual([202, 202])
    expect(new Set(answers.map((answer) => answer.body.run)).size).toBe(1)
    expect(answers.map((answer) => answer.body.status).sort()).toEqual(['created', 'replayed'])
    await muster.runEnded(String(answers[0]?.body.run))
    expect(await executionsOf('same-instant')).toHaveLength(1)
  })
})
