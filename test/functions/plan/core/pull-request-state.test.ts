import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pullRequestState } from '../../../../functions/plan/core/pull-request-state.ts'
import { GITHUB_READ_BACK_MS, HEAD_VISIBLE_WITHIN_MS } from '../../../../shared/base/limits.ts'

const EVENT_AT = 1_000_000
const ACCEPTED_AT = 2_000_000
const run = { head: 'mine', eventAt: EVENT_AT, acceptedAt: ACCEPTED_AT }
const LAST_MOMENT = ACCEPTED_AT + HEAD_VISIBLE_WITHIN_MS

const seen = (sha: string, updatedAt: number, now = ACCEPTED_AT, state = 'open') =>
  pullRequestState({ head: { sha }, state, updatedAt }, run, now)

describe('pullRequestState', () => {
  it('the head of the event is live, whatever time GitHub shows', () => {
    for (const updatedAt of [EVENT_AT - 1, EVENT_AT, EVENT_AT + 1]) expect(seen('mine', updatedAt)).toBe('live')
  })

  it('IL1: another head of a later event overtakes the run at once', () => {
    expect(seen('newer', EVENT_AT + 1)).toBe('moved')
  })

  it('PL8: a head of an earlier event is not reviewed: Plan waits, then the run fails visibly', () => {
    expect(seen('older', EVENT_AT - 1)).toBe('not_yet')
    expect(seen('older', EVENT_AT - 1, LAST_MOMENT - 1)).toBe('not_yet')
    expect(seen('older', EVENT_AT - 1, LAST_MOMENT)).toBe('not_in_time')
  })

  it('a head of the same second may be older or newer: Plan waits, then the head counts as newer', () => {
    expect(seen('other', EVENT_AT, LAST_MOMENT - 1)).toBe('not_yet')
    expect(seen('other', EVENT_AT, LAST_MOMENT)).toBe('moved')
  })

  it('L4: a pull request closed after the event is closed; a pull request closed before the event is live', () => {
    expect(seen('mine', EVENT_AT + 1, ACCEPTED_AT, 'closed')).toBe('closed')
    expect(seen('mine', EVENT_AT - 1, ACCEPTED_AT, 'closed')).toBe('live')
  })

  it('a pull request closed and reopened within one second is read again, for seconds only', () => {
    expect(seen('mine', EVENT_AT, ACCEPTED_AT, 'closed')).toBe('not_yet')
    expect(seen('mine', EVENT_AT, ACCEPTED_AT + GITHUB_READ_BACK_MS, 'closed')).toBe('closed')
  })

  it('PL8: no other head ever counts as the head of the event', () => {
    const number = fc.integer({ min: 0, max: 4_000_000 })
    fc.assert(
      fc.property(number, number, fc.constantFrom('open', 'closed'), (updatedAt, now, state) => {
        expect(seen('other', updatedAt, now, state)).not.toBe('live')
      }),
    )
  })

  it('waiting ends: at the last moment every answer is final', () => {
    fc.assert(
      fc.property(fc.constantFrom('mine', 'other'), fc.integer({ min: 0, max: 4_000_000 }), (sha, updatedAt) => {
        expect(seen(sha, updatedAt, LAST_MOMENT)).not.toBe('not_yet')
      }),
    )
  })
})
