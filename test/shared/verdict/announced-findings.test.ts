import { describe, expect, it } from 'vitest'
import { announcedBy, announcementsOf, unannounced } from '../../../shared/verdict/announced-findings.ts'
import { CHANGES_REQUESTED, finding } from '../../functions/conclude/conclusions.ts'

const one = finding({ fingerprint: 'one' })
const two = finding({ fingerprint: 'two' })
const conclusion = { ...CHANGES_REQUESTED, findings: [one, two], announcedBefore: ['one'], dispositions: [] }

describe('what a conclusion has yet to say', () => {
  it('D9: what no earlier review has said', () => {
    expect(unannounced(conclusion)).toEqual([two])
  })

  it('not what nobody looked at at this head, as its lines may have moved', () => {
    const unseen = { ...conclusion, dispositions: [{ finding: two, verb: 'not_looked_at' as const }] }
    expect(unannounced(unseen)).toEqual([])
    const seen = { ...conclusion, dispositions: [{ finding: two, verb: 'still_present' as const }] }
    expect(unannounced(seen)).toEqual([two])
  })
})

describe('IL2: what counts as said for the next plan', () => {
  it('what was said before, and the rest once its message was said', () => {
    const open = announcementsOf({ ...conclusion, announcedIn: 'review' })
    expect(open.message).toMatchObject({ runId: conclusion.runId, planKey: conclusion.planKey, key: 'review' })
    expect(announcedBy(open, false)).toEqual(['one'])
    expect(announcedBy(open, true)).toEqual(['one', 'two'])
  })

  it('of a run that said nothing only what was said before', () => {
    expect(announcedBy(announcementsOf(conclusion), true)).toEqual(['one'])
  })

  it('of a first verdict nothing', () => {
    expect(announcedBy(announcementsOf(undefined), true)).toEqual([])
  })
})
