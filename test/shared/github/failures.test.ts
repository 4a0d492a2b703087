/** GitHub's words about a failure, in logs and for people. */
import { describe, expect, it } from 'vitest'
import { failureOf, sentenceOfBody, transportReason } from '../../../shared/github/failures.ts'

const TOKEN = `gh${'p_'}${'Zk4Tq9Wm2Xb7Rc1Vn8Ls5Yd3Hf6Jg0Pa4Ue2'}`
const CALL = { route: 'POST /repos/{owner}/{repo}/check-runs', writes: true }

describe('AW91: a secret in GitHub’s quote of the request', () => {
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

  it('a secret in the failure of a connection is redacted', () => {
    expect(transportReason(new Error(`connect to ${TOKEN} failed`))).not.toContain(TOKEN)
  })

  it('an answer without JSON is named without a word of its text', () => {
    const cause = new SyntaxError(`Unexpected token ${TOKEN}`)
    expect(transportReason(new Error('failed', { cause }))).toBe('an answer of incomplete JSON')
  })
})
