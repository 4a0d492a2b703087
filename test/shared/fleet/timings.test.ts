import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFailure } from '../../../shared/base/errors.ts'
import { PATIENCE_MS_MAX, REVIEW_LEASE_MS_DEFAULT, REVIEW_LEASE_MS_MIN } from '../../../shared/base/limits.ts'
import { timingsOf } from '../../../shared/fleet/timings.ts'

describe('timingsOf', () => {
  it('AW38: two renewals may fail before the end of a lease of any length', () => {
    fc.assert(
      fc.property(fc.integer({ min: REVIEW_LEASE_MS_MIN, max: 3_600_000 }), (leaseMs) => {
        const { heartbeatMs, reviewLeaseMs } = timingsOf(leaseMs)
        expect(3 * heartbeatMs).toBeLessThanOrEqual(reviewLeaseMs)
        expect(heartbeatMs).toBeGreaterThan(0)
      }),
    )
  })

  it('the default is three minutes, looked at every minute', () => {
    expect(timingsOf()).toEqual({
      reviewLeaseMs: REVIEW_LEASE_MS_DEFAULT,
      heartbeatMs: 60_000,
      grantMs: 120_000,
      postLeaseMs: 60_000,
      recheckMs: 60_000,
      closedMinMs: 15_000,
      patienceMs: 3_600_000,
    })
  })

  it('a heartbeat of its own changes only the interval of renewals', () => {
    expect(timingsOf(180_000, 20_000)).toEqual({ ...timingsOf(180_000), heartbeatMs: 20_000 })
    expect(timingsOf(180_000, 60_000)).toEqual(timingsOf(180_000))
  })

  it.each([60_001, 180_000, 0, -1, Number.NaN])(
    'a lease of three minutes refuses a heartbeat of %d ms',
    (heartbeatMs) => {
      expect(() => timingsOf(180_000, heartbeatMs)).toThrow(/^environment_missing: A heartbeat every/)
    },
  )

  it('L2: a patience of its own changes nothing else', () => {
    expect(timingsOf(180_000, undefined, 60_000)).toEqual({ ...timingsOf(180_000), patienceMs: 60_000 })
  })

  it.each([0, -1, PATIENCE_MS_MAX + 1, Number.NaN])('L2: refuses a patience of %d ms', (patienceMs) => {
    expect(() => timingsOf(180_000, undefined, patienceMs)).toThrow(/^environment_missing: A patience of/)
  })

  it.each([REVIEW_LEASE_MS_MIN - 1, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a lease of %d ms',
    (leaseMs) => {
      try {
        timingsOf(leaseMs)
        expect.unreachable()
      } catch (error) {
        expect(isFailure(error, 'refused') && error.code).toBe('environment_missing')
      }
    },
  )
})
