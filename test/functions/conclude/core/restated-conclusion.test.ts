import { describe, expect, it } from 'vitest'
import { restatedConclusion } from '../../../../functions/conclude/core/restated-conclusion.ts'
import { announcementsOf } from '../../../../shared/verdict/announced-findings.ts'
import { CHANGES_REQUESTED, finding } from '../conclusions.ts'

const one = finding({ fingerprint: 'one' })
const two = finding({ fingerprint: 'two' })
const own = { ...CHANGES_REQUESTED, findings: [one, two], announcedBefore: [], dispositions: [] }
const edited = {
  ...own,
  runId: 'another',
  planKey: 'of another',
  kind: 'analyzers' as const,
  kindReason: 'text_edited' as const,
  round: 0,
  findings: [two, one],
}

describe('a verdict that an edited description has brought up to date, said by the run that owes it', () => {
  const again = restatedConclusion(edited, own, { announcedIn: 'review', announced: ['one', 'gone'] })

  it('is that verdict, under the name and as the round of its run', () => {
    const { runId, planKey, kind, round } = own
    expect(again).toMatchObject({ runId, planKey, kind, round, findings: [two, one], announcedBefore: ['one'] })
    expect(again).not.toHaveProperty('kindReason')
  })

  it('is known to the next plan by the message that says it', () => {
    expect(announcementsOf(again).message).toEqual({
      runId: own.runId,
      planKey: own.planKey,
      key: 'review',
      fingerprints: ['two'],
    })
  })
})
