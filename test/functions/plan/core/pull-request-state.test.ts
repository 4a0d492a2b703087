import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pullRequestState } from '../../../../functions/plan/core/pull-request-state.ts'
import { GITHUB_READ_BACK_MS, HEAD_VISIBLE_WITHIN_MS } from '../../../../shared/base/limits.ts'

const EVENT_AT = 1_000_000
const ACCEPTED_AT = 2_000_000
const run = { head: 'mine', eventAt: EVENT_AT, acceptedAt: ACCEPTED_AT }
const LAST_MOMENT = ACCEPTED_AT + HEAD_VISIBLE_WITHIN_MS

const seen = (sha: string, updatedAt: number, now = ACCEPTED_AT, state = 'open') =>
  pullRequestState({ head: { sha }, state, updatedAt }, run, now).kind

describe('pullRequestState', () => {
  it('the head that the event named is live, whenever GitHub says it was updated', () => {
    for (const updatedAt of [EVENT_AT - 1, EVENT_AT, EVENT_AT + 1]) expect(seen('mine', updatedAt)).toBe('live')
  })

  it('IL1: another head of a later event has overtaken the run, at once', () => {
    expect(seen('newer', EVENT_AT + 1)).toBe('superseded')
  })

  it('PL8: another head of an earlier event is not the one to review: it is waited for, then the run fails visibly', () => {
    expect(seen('older', EVENT_AT - 1)).toBe('wait')
    expect(seen('older', EVENT_AT - 1, LAST_MOMENT - 1)).toBe('wait')
    expect(seen('older', EVENT_AT - 1, LAST_MOMENT)).toBe('failed')
  })

  it('another head of the same second may be either: it is waited for, then taken for the newer one', () => {
    expect(seen('other', EVENT_AT, LAST_MOMENT - 1)).toBe('wait')
    expect(seen('other', EVENT_AT, LAST_MOMENT)).toBe('superseded')
  })

  it('L4: a pull request that was closed since is not reviewed; one that was closed before it was reopened is', () => {
    expect(seen('mine', EVENT_AT + 1, ACCEPTED_AT, 'closed')).toBe('closed')
    expect(seen('mine', EVENT_AT - 1, ACCEPTED_AT, 'closed')).toBe('live')
  })

  it('closed and reopened within one second: GitHub may be behind, so it is looked at again, for seconds only', () => {
    expect(seen('mine', EVENT_AT, ACCEPTED_AT, 'closed')).toBe('wait')
    expect(seen('mine', EVENT_AT, ACCEPTED_AT + GITHUB_READ_BACK_MS, 'closed')).toBe('closed')
  })

  it('PL8: no other head is ever taken for the one that the event named', () => {
    const number = fc.integer({ min: 0, max: 4_000_000 })
    fc.assert(
      fc.property(number, number, fc.constantFrom('open', 'closed'), (updatedAt, now, state) => {
        expect(seen('other', updatedAt, now, state)).not.toBe('live')
      }),
    )
  })

  it('waiting ends: at its last moment every answer is final', () => {
    fc.assert(
      fc.property(fc.constantFrom('mine', 'other'), fc.integer({ min: 0, max: 4_000_000 }), (sha, updatedAt) => {
        expect(seen(sha, updatedAt, LAST_MOMENT)).not.toBe('wait')
      }),
    )
  })
})
