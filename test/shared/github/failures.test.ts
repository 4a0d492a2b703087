/** What GitHub said about a failure, as it goes on to logs and to people. */
import { describe, expect, it } from 'vitest'
import { failureOf, sentenceOfBody, transportReason } from '../../../shared/github/failures.ts'

const TOKEN = `gh${'p_'}${'Zk4Tq9Wm2Xb7Rc1Vn8Ls5Yd3Hf6Jg0Pa4Ue2'}`
const CALL = { route: 'POST /repos/{owner}/{repo}/check-runs', writes: true }

describe('AW91: what GitHub quotes of what it was sent', () => {
  it.each([
    ['in its message', { message: `Bad value ${TOKEN}` }],
    ['in its list of errors, as a text', { message: 'Invalid', errors: [`value ${TOKEN}`] }],
    ['in its list of errors, as an object', { message: 'Invalid', errors: [{ field: 'body', value: TOKEN }] }],
    ['in a page of a proxy', `<html>${TOKEN}</html>`],
    ['where the cut would have halved it', { message: `${'x'.repeat(480)} ${TOKEN}` }],
  ])('%s is redacted', (_where, body) => {
    expect(sentenceOfBody(body)).not.toContain(TOKEN.slice(0, 12))
    expect(failureOf({ status: 422, headers: {}, body }, CALL, 0).message).not.toContain(TOKEN.slice(0, 12))
  })

  it('also where the connection broke', () => {
    expect(transportReason(new Error(`connect to ${TOKEN} failed`))).not.toContain(TOKEN)
  })

  it('an answer that is no JSON is named without a word of it', () => {
    const cause = new SyntaxError(`Unexpected token ${TOKEN}`)
    expect(transportReason(new Error('failed', { cause }))).toBe('an answer that is no whole JSON')
  })
})
