/** What people have been told of: a finding is said when its review stands on GitHub, not when it was found (IL2, D9). */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import type { Finding } from '../findings/finding.ts'
import type { Conclusion } from './conclusion.ts'
import { notLookedAt } from './reconciliation.ts'

/** Which findings of a verdict were said, as far as it knows itself, and where the rest was to be said. */
export const announcementsSchema = z.object({
  /** Fingerprints that were said before that verdict. */
  before: z.array(z.string()),
  /** Its own message, and the fingerprints that it says; absent where it had none. What became of it decides. */
  message: z
    .object({ runId: z.string(), planKey: z.string(), key: z.string(), fingerprints: z.array(z.string()) })
    .exactOptional(),
})
export type Announcements = Stored<typeof announcementsSchema>

/**
 * Findings that a conclusion has yet to say, worst first. Not among them is what nobody looked at again at this head: where it
 * stands now isn't known, so it gets no comment on a line until it is found again; the summary names it meanwhile.
 */
export function unannounced(conclusion: Pick<Conclusion, 'findings' | 'announcedBefore' | 'dispositions'>): Finding[] {
  const { findings, announcedBefore } = conclusion
  const unseen = notLookedAt(conclusion)
  return findings.filter(({ fingerprint }) => !announcedBefore.includes(fingerprint) && !unseen.has(fingerprint))
}

/** What a verdict leaves to the next plan. */
export function announcementsOf(conclusion: Conclusion | undefined): Announcements {
  if (!conclusion) return { before: [] }
  const { runId, planKey, announcedBefore: before, announcedIn: key } = conclusion
  if (key === undefined) return { before }
  const fingerprints = unannounced(conclusion).map(({ fingerprint }) => fingerprint)
  return { before, message: { runId, planKey, key, fingerprints } }
}

/** Fingerprints that were said, once it is known whether the message was. */
export function announcedBy({ before, message }: Announcements, isMessageSaid: boolean): readonly string[] {
  return message && isMessageSaid ? [...before, ...message.fingerprints] : before
}
