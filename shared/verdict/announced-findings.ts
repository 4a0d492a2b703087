/** Findings announced to people: a review on GitHub announces a finding, not the verdict that found it (IL2, D9). */
import type { Finding } from '../findings/finding.ts'
import type { Conclusion } from './conclusion.ts'
import { notLookedAt } from './reconciliation.ts'

/** The announced findings of a verdict, as known at the verdict, and the message that was to announce the others. */
export interface Announcements {
  /** Fingerprints announced before that verdict. */
  readonly before: readonly string[]
  /** The verdict's own message with its fingerprints, if it has a message. The message's outcome decides. */
  readonly message?: {
    readonly runId: string
    readonly planKey: string
    readonly key: string
    readonly fingerprints: readonly string[]
  }
}

/**
 * Findings that a conclusion has yet to announce, worst first. A finding that no lens looked at again at this head is
 * left out: its lines are unknown, so it gets no comment until a lens finds it again; the summary names it meanwhile.
 */
export function unannounced(conclusion: Pick<Conclusion, 'findings' | 'announcedBefore' | 'dispositions'>): Finding[] {
  const { findings, announcedBefore } = conclusion
  const unseen = notLookedAt(conclusion)
  return findings.filter(({ fingerprint }) => !announcedBefore.includes(fingerprint) && !unseen.has(fingerprint))
}

/** The announcements that a verdict leaves to the next plan. */
export function announcementsOf(conclusion: Conclusion | undefined): Announcements {
  if (!conclusion) return { before: [] }
  const { runId, planKey, announcedBefore: before, announcedIn: key } = conclusion
  if (key === undefined) return { before }
  const fingerprints = unannounced(conclusion).map(({ fingerprint }) => fingerprint)
  return { before, message: { runId, planKey, key, fingerprints } }
}

/** Fingerprints announced, once the outcome of the message is known. */
export function announcedBy({ before, message }: Announcements, isMessageSaid: boolean): readonly string[] {
  return message && isMessageSaid ? [...before, ...message.fingerprints] : before
}
