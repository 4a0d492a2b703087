import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterAcceptance,
  afterRefusal,
  allInline,
  type Placing,
  triesMax,
} from '../../../shared/publishing/inline-bisection.ts'

/** Tries until a placing is final, with a GitHub that refuses the `bad` positions inline. */
function placed(count: number, bad: readonly number[]): { tries: number; inline: number[] } | 'refused' {
  let placing: Placing = allInline(count)
  for (let tries = 1; ; tries += 1) {
    const { from, to } = placing.inBody
    const inline = Array.from({ length: count }, (_, at) => at).filter((at) => at < from || at >= to)
    const accepted = inline.every((at) => !bad.includes(at))
    const next = accepted ? afterAcceptance(placing) : afterRefusal(placing)
    if (next === undefined) return accepted ? { tries, inline } : 'refused'
    placing = next
  }
}

describe('the placing of refused comments', () => {
  it('AW79: only the bad comment of n moves, after at most log2(n) + 2 tries', () => {
    for (let count = 1; count <= 60; count += 1) {
      for (let bad = 0; bad < count; bad += 1) {
        const found = placed(count, [bad])
        if (found === 'refused') throw new Error(`Expected ${bad} of ${count} to be placed, was refused`)
        expect(found.inline).toHaveLength(count - 1)
        expect(found.tries).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(count)))
      }
    }
  })

  it('A4: the tries are bounded for any bad comments, and no bad comment stays inline', () => {
    const positions = fc
      .integer({ min: 0, max: 60 })
      .chain((count) =>
        fc.tuple(fc.constant(count), fc.array(fc.nat({ max: Math.max(0, count - 1) }), { maxLength: 8 })),
      )
    fc.assert(
      fc.property(positions, ([count, bad]) => {
        const found = placed(count, bad)
        if (found === 'refused') throw new Error(`Expected ${bad} of ${count} to be placed, was refused`)
        expect(found.tries).toBeLessThanOrEqual(triesMax(count))
        expect(found.inline.filter((at) => bad.includes(at))).toEqual([])
      }),
    )
  })

  it('a refused review without comments is not tried again', () => {
    expect(afterRefusal(allInline(0))).toBeUndefined()
  })
})
