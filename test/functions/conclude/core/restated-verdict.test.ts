import { describe, expect, it } from 'vitest'
import { restatedVerdict } from '../../../../functions/conclude/core/restated-verdict.ts'
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

describe('a restated conclusion, updated by an edited description', () => {
  const again = restatedVerdict(edited, own, { announcedIn: 'review', announced: ['one', 'gone'] })

  it('a restated conclusion has the updated verdict, under the name and round of its run', () => {
    const { runId, planKey, kind, round } = own
    expect(again).toMatchObject({ runId, planKey, kind, round, findings: [two, one], announcedBefore: ['one'] })
    expect(again).not.toHaveProperty('kindReason')
  })

  it('the next plan finds a restated conclusion by the message with its findings', () => {
    expect(announcementsOf(again).message).toEqual({
      runId: own.runId,
      planKey: own.planKey,
      key: 'review',
      fingerprints: ['two'],
    })
  })
})
