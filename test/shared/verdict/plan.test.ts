import { describe, expect, it } from 'vitest'
import { isRestated } from '../../../shared/verdict/plan.ts'
import { runOf } from '../samples.ts'

describe('isShownAgain', () => {
  it('a verdict of which a lens failed is made again, with what is missing', () => {
    const lacking = runOf({ concludedPlanKey: 'k1', concludedWhole: false })
    expect(isRestated(lacking, { kind: 'full', planKey: 'k1' })).toBe(false)
  })

  it('LE1, PR4: a verdict with the same plan key is shown again', () => {
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'full', planKey: 'k1' })).toBe(true)
  })

  it('LE1: with another plan key it is made anew', () => {
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'full', planKey: 'k2' })).toBe(false)
    expect(isRestated(runOf(), { kind: 'full', planKey: 'k1' })).toBe(false)
  })

  it('a run of analyzers alone is made anew: what it updates has moved on', () => {
    const edited = runOf({ kind: 'analyzers', concludedPlanKey: 'k1' })
    expect(isRestated(edited, { kind: 'analyzers', planKey: 'k1' })).toBe(false)
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'analyzers', planKey: 'k1' })).toBe(false)
  })
})
