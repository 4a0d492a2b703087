/** What a run concludes: pure data, stored as a document, from which everything that is shown is rendered. */

import type { Coverage, LeftOut } from '../findings/coverage.ts'
import type { Finding, RejectedFinding } from '../findings/finding.ts'
import type { LensName } from '../findings/lens.ts'
import type { ConfigurationProblem } from './config.ts'

export type Verdict = 'pass' | 'concerns' | 'changes_requested' | 'incomplete'

/** What became of an earlier finding at this head. */
export interface Disposition {
  readonly finding: Finding
  readonly verb: 'fixed' | 'still_present' | 'no_longer_applicable' | 'not_looked_at'
}

/** One lens in one run, over all its parts. */
export interface LensOutcome {
  readonly lens: LensName
  readonly state: 'read' | 'failed' | 'not_read'
  /** Stable token and a sentence, where it isn't `read`. */
  readonly reason?: string
  readonly remedy?: string
  readonly findings: number
  readonly rejected: number
  readonly coverage: readonly Coverage[]
  readonly model?: string
}

export interface Conclusion {
  readonly runId: string
  readonly planKey: string
  readonly repository: { readonly id: number; readonly owner: string; readonly name: string }
  readonly number: number
  readonly head: string
  readonly baseRef: string
  readonly kind: 'full' | 'analyzers'
  readonly kindReason?: 'rounds_ceiling' | 'text_edited'
  /** The newest head of this series that was reviewed in full, where that isn't `head`. */
  readonly lastFullHead?: string
  readonly round: number
  readonly roundsCeiling: number
  readonly verdict: Verdict
  /** Why it is incomplete, each a sentence. Empty for the others. */
  readonly incompleteReasons: readonly string[]
  /** Standing findings, worst first; new and still present ones. */
  readonly findings: readonly Finding[]
  /** Fingerprints among `findings` that an earlier review has said: no new comment for them (D9). */
  readonly announcedBefore: readonly string[]
  /** The key of the message that says the others; absent where none does, as in a run of analyzers. */
  readonly announcedIn?: string
  readonly dispositions: readonly Disposition[]
  readonly rejected: readonly RejectedFinding[]
  /** Findings of different lenses or parts on the same thing, counted as merged away. */
  readonly merged: number
  readonly lenses: readonly LensOutcome[]
  /** Files that no lens was given. Documents that were stored earlier don't say `because`. */
  readonly leftOut: readonly (Omit<LeftOut, 'because'> & Partial<Pick<LeftOut, 'because'>>)[]
  readonly configurationProblems: readonly ConfigurationProblem[]
  readonly adjudication: 'not_needed' | 'passed_through' | 'not_read'
}
