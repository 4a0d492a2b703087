import { describe, expect, it } from 'vitest'
import { openSaidOf, saidOf, unsaid } from '../../../shared/verdict/announced-findings.ts'
import { CHANGES_REQUESTED, finding } from '../../functions/conclude/conclusions.ts'

const one = finding({ fingerprint: 'one' })
const two = finding({ fingerprint: 'two' })
const conclusion = { ...CHANGES_REQUESTED, findings: [one, two], saidBefore: ['one'], dispositions: [] }

describe('what a conclusion has yet to say', () => {
  it('D9: what no earlier review has said', () => {
    expect(unsaid(conclusion)).toEqual([two])
  })

  it('not what nobody looked at at this head, as its lines may have moved', () => {
    const unseen = { ...conclusion, dispositions: [{ finding: two, verb: 'not_looked_at' as const }] }
    expect(unsaid(unseen)).toEqual([])
    const seen = { ...conclusion, dispositions: [{ finding: two, verb: 'still_present' as const }] }
    expect(unsaid(seen)).toEqual([two])
  })
})

describe('IL2: what counts as said for the next plan', () => {
  it('what was said before, and the rest once its message was said', () => {
    const open = openSaidOf({ ...conclusion, saidIn: 'review' })
    expect(open.message).toMatchObject({ runId: conclusion.runId, planKey: conclusion.planKey, key: 'review' })
    expect(saidOf(open, false)).toEqual(['one'])
    expect(saidOf(open, true)).toEqual(['one', 'two'])
  })

  it('of a run that said nothing only what was said before', () => {
    expect(saidOf(openSaidOf(conclusion), true)).toEqual(['one'])
  })

  it('of a first verdict nothing', () => {
    expect(saidOf(openSaidOf(undefined), true)).toEqual([])
  })
})
