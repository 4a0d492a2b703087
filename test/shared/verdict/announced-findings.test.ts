import { describe, expect, it } from 'vitest'
import { announcedBy, announcementsOf, unannounced } from '../../../shared/verdict/announced-findings.ts'
import { CHANGES_REQUESTED, finding } from '../../functions/conclude/conclusions.ts'

const one = finding({ fingerprint: 'one' })
const two = finding({ fingerprint: 'two' })
const conclusion = { ...CHANGES_REQUESTED, findings: [one, two], announcedBefore: ['one'], dispositions: [] }

describe('findings to announce', () => {
  it('D9: findings that no earlier review has announced are to announce', () => {
    expect(unannounced(conclusion)).toEqual([two])
  })

  it('a finding that no lens looked at again is not to announce, as its lines may have moved', () => {
    const unseen = { ...conclusion, dispositions: [{ finding: two, verb: 'not_looked_at' as const }] }
    expect(unannounced(unseen)).toEqual([])
    const seen = { ...conclusion, dispositions: [{ finding: two, verb: 'still_present' as const }] }
    expect(unannounced(seen)).toEqual([two])
  })
})

describe('IL2: announcements for the next plan', () => {
  it('IL2: a message on GitHub adds its findings to those announced before', () => {
    const open = announcementsOf({ ...conclusion, announcedIn: 'review' })
    expect(open.message).toMatchObject({ runId: conclusion.runId, planKey: conclusion.planKey, key: 'review' })
    expect(announcedBy(open, false)).toEqual(['one'])
    expect(announcedBy(open, true)).toEqual(['one', 'two'])
  })

  it('IL2: a run without a message leaves the earlier announcements', () => {
    expect(announcedBy(announcementsOf(conclusion), true)).toEqual(['one'])
  })

  it('IL2: before the first verdict nothing is announced', () => {
    expect(announcedBy(announcementsOf(undefined), true)).toEqual([])
  })
})
