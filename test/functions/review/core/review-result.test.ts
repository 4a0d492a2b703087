import { describe, expect, it } from 'vitest'
import {
  blockingIn,
  failureOf,
  passedThrough,
  plannedReviewOf,
} from '../../../../functions/review/core/review-result.ts'
import { Dead, Refused, Retry } from '../../../../shared/base/errors.ts'
import type { Finding } from '../../../../shared/findings/finding.ts'
import type { Severity } from '../../../../shared/findings/severity.ts'
import type { Plan } from '../../../../shared/verdict/plan.ts'
import { wantedReview } from '../../../shared/samples.ts'

const planned = [
  { lens: 'secrets', part: 0, paths: ['a'] },
  { lens: 'secrets', part: 1, paths: ['b'] },
] as const
const plan = { reviews: planned } as unknown as Plan

describe('plannedReviewOf', () => {
  it('RC1: finds the part of a planned name, and none for an unplanned name', () => {
    expect(plannedReviewOf(plan, wantedReview(1))).toBe(planned[1])
    expect(plannedReviewOf(plan, wantedReview(2))).toBeUndefined()
    expect(plannedReviewOf(plan, { ...wantedReview(0), lens: 'workflows' })).toBeUndefined()
  })
})

describe('the result of a review', () => {
  it('AD3: an adjudication without a model says that every finding passed through', () => {
    expect(passedThrough(0)).toMatchObject({ lens: 'adjudication', findings: [], adjudication: 'passed_through' })
  })

  it('counts critical and high findings as blocking', () => {
    const severities: Severity[] = ['critical', 'high', 'medium', 'low']
    const findings = severities.map((severity) => ({ severity }) as Finding)
    expect(blockingIn({ lens: 'secrets', part: 0, findings, rejected: [], coverage: [] })).toBe(2)
  })
})

describe('failureOf', () => {
  it.each([
    new Refused('model_refused', 'The endpoint said no.', 'Ask it.'),
    new Retry('model_refused', 'The endpoint said no.', 1_000),
    new Dead('model_refused', 'The endpoint said no.', 'Ask it.'),
  ])('keeps the code and the sentence of a failure of ours: $name', (error) => {
    expect(failureOf(error)).toMatchObject({ code: 'model_refused', sentence: 'The endpoint said no.' })
  })

  it('a deadline, and any unknown error, has a code of the closed set', () => {
    expect(failureOf(AbortSignal.abort(new DOMException('late', 'TimeoutError')).reason).code).toBe('deadline_too_near')
    expect(failureOf(new TypeError('x of undefined')).code).toBe('lens_failed')
    expect(failureOf('thrown text')).toMatchObject({ code: 'lens_failed' })
    expect(failureOf(undefined)).toMatchObject({ code: 'lens_failed' })
    const ofNode = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    expect(failureOf(ofNode).code).toBe('lens_failed')
  })

  it('RC7: a secret in a sentence is redacted, and the sentence is bounded', () => {
    const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    const { sentence } = failureOf(new Error(`cloning with ${token} failed ${'x'.repeat(2_000)}`))
    expect(sentence).not.toContain(token)
    expect(sentence.length).toBeLessThanOrEqual(500)
  })
})
