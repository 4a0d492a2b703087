import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MODEL_CLOSED_MAX_MS } from '../../../shared/base/limits.ts'
import { impatience, parkedSince, throttledOf } from '../../../shared/fleet/throttling.ts'
import { timingsOf } from '../../../shared/fleet/timings.ts'

const NOW = Date.UTC(2026, 0, 5, 9)
const MINUTE_MS = 60_000
const timings = timingsOf()
const throttled = (throttledForMs: number, afterMs: number, random = 0) =>
  throttledOf({ throttledSince: NOW - throttledForMs }, { afterMs, now: NOW, random }, timings)

describe('a throttled model', () => {
  it('L1: is left alone for as long as it asked, from now on at its first throttle', () => {
    const first = throttledOf({}, { afterMs: 20_000, now: NOW, random: 0 }, timings)
    expect(first).toEqual({ since: NOW, until: NOW + 20_000, isGivenUp: false })
  })

  it('L1: without a time is asked again after 15 s, then later and later, at most every six minutes', () => {
    const waits = [0, 1, 3, 6, 12, 24, 48].map((minutes) => throttled(minutes * MINUTE_MS, 0).until - NOW)
    expect(waits).toEqual([15_000, 20_000, 60_000, 120_000, 240_000, MODEL_CLOSED_MAX_MS, MODEL_CLOSED_MAX_MS])
  })

  it('is never asked before the named time, and not by all reviews at one moment', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3_600_000 }),
        fc.integer({ min: 0, max: 3_600_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (forMs, afterMs, random) => {
          const waitMs = throttled(forMs, afterMs, random).until - NOW
          expect(waitMs).toBeGreaterThanOrEqual(Math.max(afterMs, timings.closedMinMs))
          expect(waitMs).toBeLessThanOrEqual(1.1 * Math.max(afterMs, MODEL_CLOSED_MAX_MS) + 1)
        },
      ),
    )
    expect(throttled(0, 60_000, 1).until).toBeGreaterThan(throttled(0, 60_000, 0).until)
  })

  it('L2: patience is over after an hour, by the clock', () => {
    expect(throttled(60 * MINUTE_MS - 1, 0).isGivenUp).toBe(false)
    expect(throttled(60 * MINUTE_MS, 0).isGivenUp).toBe(true)
    expect(impatience('model/a', timings.patienceMs)).toEqual({
      code: 'model_throttled',
      sentence: 'a was throttled for longer than the 60 min of this deployment’s patience.',
    })
  })
})

describe('parkedSince', () => {
  it('is the closing of the pool, or the acceptance of the run if later', () => {
    expect(parkedSince({}, { acceptedAt: 10 }, { since: 20 })).toBe(20)
    expect(parkedSince({}, { acceptedAt: 30 }, { since: 20 })).toBe(30)
  })

  it('is the first throttle of the review itself, even if the pool was open in between', () => {
    expect(parkedSince({ throttledSince: 12 }, { acceptedAt: 10 }, { since: 20 })).toBe(12)
  })
})
