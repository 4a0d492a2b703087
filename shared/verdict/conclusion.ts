/** The conclusion of a run: pure data, stored as a document, the source of everything that GitHub shows. */
import type { Coverage, LeftOut } from '../findings/coverage.ts'
import type { Finding, RejectedFinding } from '../findings/finding.ts'
import type { LensName } from '../findings/lens.ts'
import type { ConfigurationProblem } from './config.ts'

export type Verdict = 'pass' | 'concerns' | 'changes_requested' | 'incomplete'

/** The outcome of an earlier finding at this head. */
export interface Disposition {
  readonly finding: Finding
  readonly verb: 'fixed' | 'still_present' | 'no_longer_applicable' | 'not_looked_at'
}

/** The outcome of a lens over all its parts. */
export interface LensOutcome {
  readonly lens: LensName
  readonly state: 'read' | 'failed' | 'not_read'
  /** Stable token and a sentence, unless the state is `read`. */
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
  /** The newest head of this series that was reviewed in full; absent if `head` was. */
  readonly lastFullHead?: string
  readonly round: number
  readonly roundsCeiling: number
  readonly verdict: Verdict
  /** A sentence for each reason; empty unless the verdict is `incomplete`. */
  readonly incompleteReasons: readonly string[]
  /** Standing findings, new and still present, worst first. */
  readonly findings: readonly Finding[]
  /** Fingerprints among `findings` that an earlier review has announced: no new comment for them (D9). */
  readonly announcedBefore: readonly string[]
  /** The key of the message that announces the others; absent without a message, as in a run of analyzers. */
  readonly announcedIn?: string
  readonly dispositions: readonly Disposition[]
  readonly rejected: readonly RejectedFinding[]
  /** Findings merged into another finding of the same fingerprint. */
  readonly merged: number
  readonly lenses: readonly LensOutcome[]
  /** Files given to no lens. Documents of an earlier version lack `because`. */
  readonly leftOut: readonly (Omit<LeftOut, 'because'> & Partial<Pick<LeftOut, 'because'>>)[]
  readonly configurationProblems: readonly ConfigurationProblem[]
  readonly adjudication: 'not_needed' | 'passed_through' | 'not_read'
}
