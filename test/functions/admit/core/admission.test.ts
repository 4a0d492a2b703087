import { describe, expect, it } from 'vitest'
import { admissionOf, needsAdjudication, refusalOf } from '../../../../functions/admit/core/admission.ts'
import type { Review, ReviewState } from '../../../../shared/runs/review.ts'
import { runOf, wantedReview } from '../../../shared/samples.ts'

const review = (changes: Partial<Review>): Review =>
  ({ ...wantedReview(0), state: 'waiting', epoch: 1, ...changes }) as Review

describe('refusalOf', () => {
  it('a running run wants reviews for its present attempt', () => {
    expect(refusalOf(runOf({ state: 'running', attempt: 2 }), 2)).toBeUndefined()
  })

  it('LE6, IL11: a run in another state, or at another attempt, wants no reviews', () => {
    for (const state of ['accepted', 'concluded', 'ending', 'ended'] as const) {
      expect(refusalOf(runOf({ state }), 1)).toBe('ended')
    }
    expect(refusalOf(runOf({ state: 'running', attempt: 2 }), 1)).toBe('ended')
    expect(refusalOf(undefined, 1)).toBe('ended')
  })

  it('PL4: a held run answers its reviews with held', () => {
    expect(refusalOf(runOf({ state: 'held' }), 1)).toBe('held')
  })
})

describe('admissionOf', () => {
  it.each(['completed', 'failed', 'ended'] as const)('a review that is %s is answered at once', (state) => {
    expect(admissionOf(review({ state }))).toEqual({ kind: 'answer', outcome: state })
  })

  it('a granted review is answered at once, a waiting review is queued, a leased review is waited for', () => {
    expect(admissionOf(review({ state: 'granted' }))).toEqual({ kind: 'granted' })
    expect(admissionOf(review({ state: 'waiting' }))).toEqual({ kind: 'enqueue' })
    expect(admissionOf(review({ state: 'leased' }))).toEqual({ kind: 'wait' })
  })
})

describe('needsAdjudication', () => {
  const done = (changes: Partial<Review>) => review({ state: 'completed', blocking: 0, ...changes })

  it('AD1: a single blocking finding of any lens needs a second reading', () => {
    expect(needsAdjudication([done({}), done({ part: 1, blocking: 1 })])).toBe(true)
  })

  it('without a blocking finding no second reading is needed', () => {
    expect(needsAdjudication([])).toBe(false)
    expect(needsAdjudication([done({}), done({ state: 'failed' })])).toBe(false)
  })

  it('neither an adjudication nor an unfinished review needs a second reading', () => {
    expect(needsAdjudication([done({ lens: 'adjudication', blocking: 3 })])).toBe(false)
    const unfinished: ReviewState[] = ['planned', 'waiting', 'granted', 'leased']
    for (const state of unfinished) expect(needsAdjudication([review({ state, blocking: 3 })])).toBe(false)
  })
})
