import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDone, parseReviewId, type ReviewName, reviewIdOf } from '../../../shared/runs/review.ts'

const name: fc.Arbitrary<ReviewName> = fc.record({
  runId: fc.stringMatching(/^[0-9a-f]{64}$/),
  planKey: fc.stringMatching(/^[0-9a-f]{64}$/),
  lens: fc.constantFrom('secrets', 'workflows', 'description', 'correctness', 'adjudication'),
  part: fc.integer({ min: 0, max: 999 }),
})

describe('reviewIdOf', () => {
  it('an id is read back as the same name', () => {
    fc.assert(
      fc.property(name, (review) => {
        expect(parseReviewId(reviewIdOf(review))).toEqual(review)
      }),
    )
  })

  it('two reviews never share an id', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        fc.pre(a.lens !== b.lens || a.part !== b.part || a.runId !== b.runId || a.planKey !== b.planKey)
        expect(reviewIdOf(a)).not.toBe(reviewIdOf(b))
      }),
    )
  })
})

describe('parseReviewId', () => {
  const hex = 'a'.repeat(64)
  it.each([
    '',
    `${hex}/${hex}/secrets`,
    `${hex}/${hex}/secrets/1/2`,
    `${hex}/${hex}/secrets/-1`,
    `${hex}/${hex}/Secrets/1`,
    `${hex.slice(1)}/${hex}/secrets/1`,
    ` ${hex}/${hex}/secrets/1`,
    `${hex}/${hex}/secrets/1\n`,
    `${hex}/${hex}/../1`,
  ])('RC1: %j names no review', (text) => {
    expect(parseReviewId(text)).toBeUndefined()
  })

  it('every id that can be read is the id of its name', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseReviewId(text)
        expect(parsed === undefined || reviewIdOf(parsed) === text).toBe(true)
      }),
    )
  })
})

describe('isDone', () => {
  it('a review is done when completed, failed or ended', () => {
    const states = ['planned', 'waiting', 'granted', 'leased', 'completed', 'failed', 'ended'] as const
    expect(states.filter(isDone)).toEqual(['completed', 'failed', 'ended'])
  })
})
