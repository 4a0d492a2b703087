import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTENT_PER_HOUR_MAX, CONTENT_PER_MINUTE_MAX } from '../../../shared/base/limits.ts'
import { type Budget, takeFrom, UNUSED_BUDGET } from '../../../shared/publishing/budget.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Takes at each of these times (ms), and answers the times of success. */
function takenAt(times: readonly number[]): number[] {
  let budget: Budget = UNUSED_BUDGET
  return times.filter((now) => {
    const taken = takeFrom(budget, now)
    if (taken.state === 'taken') budget = taken.budget
    return taken.state === 'taken'
  })
}

/** The largest number of times within any `lengthMs`. */
function densest(times: readonly number[], lengthMs: number): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + lengthMs).length))
}

describe('the budget of an installation', () => {
  it('AW76: no minute has more than 60 creations and no hour more than 400, for any requests', () => {
    const gaps = fc.array(fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 9_000 }), fc.nat({ max: 200_000 })), {
      minLength: 300,
      maxLength: 900,
    })
    fc.assert(
      fc.property(gaps, (between) => {
        let now = 1_700_000_000_123
        const given = takenAt(between.map((gap) => (now += gap)))
        expect(densest(given, MINUTE_MS)).toBeLessThanOrEqual(CONTENT_PER_MINUTE_MAX)
        expect(densest(given, HOUR_MS)).toBeLessThanOrEqual(CONTENT_PER_HOUR_MAX)
      }),
      { numRuns: 50 },
    )
  })

  it('AW76: of 600 messages in an hour at most 400 go out, the rest within the next hour, each at its time', () => {
    let budget: Budget = UNUSED_BUDGET
    let now = 0
    const given: number[] = []
    for (let asked = 0; asked < 10_000 && given.length < 600; asked += 1) {
      const taken = takeFrom(budget, now)
      if (taken.state === 'spent') {
        expect(taken.until).toBeGreaterThan(now)
        now = taken.until
        continue
      }
      budget = taken.budget
      given.push(now)
    }
    expect(given.filter((at) => at < HOUR_MS)).toHaveLength(CONTENT_PER_HOUR_MAX)
    expect(given.at(-1)).toBeLessThan(2.2 * HOUR_MS)
  })

  it('a whole minute’s creations may go out at once, and the next after that minute', () => {
    const at = 1_200_000
    const given = takenAt(Array.from({ length: CONTENT_PER_MINUTE_MAX + 1 }, () => at))
    expect(given).toHaveLength(CONTENT_PER_MINUTE_MAX)
    expect(takenAt([...given, at + MINUTE_MS - 1])).toHaveLength(CONTENT_PER_MINUTE_MAX)
  })

  it('R4: a closed budget gives nothing, and gives as much as before once open', () => {
    const closed = { ...UNUSED_BUDGET, closedUntil: 5_000 }
    expect(takeFrom(closed, 4_999)).toEqual({ state: 'spent', until: 5_000 })
    expect(takeFrom(closed, 5_000)).toMatchObject({ state: 'taken' })
  })

  it('a clock that is behind gives nothing back', () => {
    const full = Array.from({ length: CONTENT_PER_MINUTE_MAX }, () => 1_200_000)
    expect(takenAt([...full, 600_000, 0])).toHaveLength(CONTENT_PER_MINUTE_MAX)
  })

  it('a budget stays small: no more buckets than a window has, however long in use', () => {
    let budget: Budget = UNUSED_BUDGET
    for (let now = 0; now < 5 * HOUR_MS; now += 7_000) {
      const taken = takeFrom(budget, now)
      if (taken.state === 'taken') budget = taken.budget
      expect(budget.minute.length).toBeLessThanOrEqual(14)
      expect(budget.hour.length).toBeLessThanOrEqual(14)
    }
  })
})
