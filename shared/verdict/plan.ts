/** The plan of one attempt: what is read, by which lenses, under which configuration. Stored once as a document. */

import type { LeftOut } from '../findings/coverage.ts'
import type { FileChange } from '../findings/diff.ts'
import type { Finding } from '../findings/finding.ts'
import type { LensName, PullRequestFacts } from '../findings/lens.ts'
import type { Repository, Run } from '../runs/run.ts'
import type { Announcements } from './announced-findings.ts'
import type { Disposition, LensOutcome } from './conclusion.ts'
import type { Configuration, ConfigurationProblem } from './config.ts'
import type { PlannedReview } from './partition.ts'

export interface Plan {
  readonly contract: number
  readonly runId: string
  readonly planKey: string
  readonly repository: Repository
  readonly pullRequest: PullRequestFacts
  readonly head: string
  readonly baseSha: string
  readonly mergeBase: string
  /** `full` is a round; `analyzers` updates the summary and the check run, and is none (DESIGN §6). */
  readonly kind: 'full' | 'analyzers'
  /** Why it is not full, for people. */
  readonly kindReason?: 'rounds_ceiling' | 'text_edited'
  /** The number this round will have, from 1; 0 for `analyzers`. */
  readonly round: number
  readonly configuration: Configuration
  readonly configurationProblems: readonly ConfigurationProblem[]
  readonly template: string | undefined
  readonly files: readonly FileChange[]
  /** Files that no lens is given, each with its reason. */
  readonly leftOut: readonly LeftOut[]
  /** True if the pull request has more files than GitHub lists. */
  readonly filesCut: boolean
  /** Head texts fetched, path → document digest. */
  readonly texts: Readonly<Record<string, string>>
  readonly reviews: readonly PlannedReview[]
  /** Active lenses that are not placed, and why: each makes the verdict `incomplete`. */
  readonly notRead: readonly { readonly lens: LensName; readonly reason: string; readonly remedy: string }[]
  /** Open at the last verdict of this thread. */
  readonly openFindings: readonly Finding[]
  /** The head of that verdict; absent where there is none. */
  readonly openAtHead?: string
  /** Which of them people were told of. */
  readonly announcements: Announcements
  /** Findings of lenses that this run doesn't place, carried over as they are (`analyzers` runs). */
  readonly carried: readonly Finding[]
  /** What those lenses came to when they last read this very head. */
  readonly carriedLenses: readonly LensOutcome[]
  /** The head of the last full review, where this run is of analyzers only. */
  readonly lastFullHead?: string
  /** What was answered at this very head about earlier findings, so that it is still said. */
  readonly carriedDispositions: readonly Disposition[]
  /** Model resolved for model lenses; the key is not in here. */
  readonly model: { readonly model: string; readonly baseUrl: string } | undefined
  /** Milliseconds since the epoch, UTC: when the plan was made. */
  readonly plannedAt: number
}

/** True if a whole verdict with this plan key was made already: it is shown again, not made again (LE1, PR4). */
export function isRestated(run: Run, plan: Pick<Plan, 'kind' | 'planKey'>): boolean {
  if (run.kind !== 'full' || plan.kind !== 'full') return false
  return run.concludedPlanKey === plan.planKey && run.concludedWhole !== false
}
