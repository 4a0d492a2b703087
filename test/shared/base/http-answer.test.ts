import { describe, expect, it } from 'vitest'
import { Refused } from '../../../shared/base/errors.ts'
import { answer, refusalAnswer } from '../../../shared/base/http-answer.ts'

describe('refusalAnswer', () => {
  it.each([
    ['malformed_body', 400],
    ['malformed_headers', 400],
    ['secret_missing', 400],
    ['signature_missing', 401],
    ['signature_mismatch', 401],
    ['unknown_run', 404],
    ['unknown_route', 404],
    ['unknown_halt', 404],
    ['idempotency_conflict', 409],
    ['halts_full', 409],
    ['limits_changed', 409],
    ['body_too_large', 413],
    ['unsupported_media_type', 415],
    ['payload_invalid', 422],
    ['identity_missing', 422],
    ['limits_invalid', 422],
    ['busy', 503],
  ] as const)('%s is answered %d, with its code, a sentence and the remedy', (code, statusCode) => {
    const refusal = refusalAnswer(new Refused(code, 'What is wrong.', 'What to do.'))
    expect(refusal.statusCode).toBe(statusCode)
    expect(JSON.parse(refusal.body)).toEqual({
      error: { code, message: 'What is wrong.', remedy: 'What to do.' },
    })
  })
})

it('an answer is JSON', () => {
  expect(answer(202, { status: 'created', attempt: 1 })).toEqual({
    statusCode: 202,
    headers: { 'content-type': 'application/json' },
    body: '{"status":"created","attempt":1}',
  })
})
