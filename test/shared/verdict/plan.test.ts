import { describe, expect, it } from 'vitest'
import { isRestated } from '../../../shared/verdict/plan.ts'
import { runOf } from '../samples.ts'

describe('isRestated', () => {
  it('a verdict with a failed lens is made again', () => {
    const lacking = runOf({ concludedPlanKey: 'k1', concludedWhole: false })
    expect(isRestated(lacking, { kind: 'full', planKey: 'k1' })).toBe(false)
  })

  it('LE1, PR4: a verdict with the same plan key is shown again', () => {
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'full', planKey: 'k1' })).toBe(true)
  })

  it('LE1: with another plan key the verdict is made anew', () => {
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'full', planKey: 'k2' })).toBe(false)
    expect(isRestated(runOf(), { kind: 'full', planKey: 'k1' })).toBe(false)
  })

  it('the verdict of a run of analyzers is made anew: its facts have changed', () => {
    const edited = runOf({ kind: 'analyzers', concludedPlanKey: 'k1' })
    expect(isRestated(edited, { kind: 'analyzers', planKey: 'k1' })).toBe(false)
    expect(isRestated(runOf({ concludedPlanKey: 'k1' }), { kind: 'analyzers', planKey: 'k1' })).toBe(false)
  })
})
