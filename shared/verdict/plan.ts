/** The plan of an attempt: which lens reads which files, under which configuration. Stored once as a document. */
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
  /** `full` is a round; `analyzers` updates the summary and the check run, and is no round. */
  readonly kind: 'full' | 'analyzers'
  /** Why the run is not full, for people. */
  readonly kindReason?: 'rounds_ceiling' | 'text_edited'
  /** The number of this round, from 1; 0 for `analyzers`. */
  readonly round: number
  readonly configuration: Configuration
  readonly configurationProblems: readonly ConfigurationProblem[]
  readonly template: string | undefined
  readonly files: readonly FileChange[]
  /** Files given to no lens, each with a reason. */
  readonly leftOut: readonly LeftOut[]
  /** True if the pull request has more files than GitHub lists. */
  readonly filesCut: boolean
  /** Head texts fetched, path → document digest. */
  readonly texts: Readonly<Record<string, string>>
  readonly reviews: readonly PlannedReview[]
  /** Active lenses without a review, each with a reason: the verdict is `incomplete`. */
  readonly notRead: readonly { readonly lens: LensName; readonly reason: string; readonly remedy: string }[]
  /** Open at the last verdict of the thread. */
  readonly openFindings: readonly Finding[]
  /** The head of the last verdict; absent before the first. */
  readonly openAtHead?: string
  /** Which of the open findings a review has announced. */
  readonly announcements: Announcements
  /** Findings of active lenses that this run doesn't place, taken from the last verdict (`analyzers` runs). */
  readonly carried: readonly Finding[]
  /** Outcomes of the same lenses at their last reading of this head. */
  readonly carriedLenses: readonly LensOutcome[]
  /** The head of the last full review, for a run of analyzers only. */
  readonly lastFullHead?: string
  /** Dispositions from an earlier verdict at this head, shown again. */
  readonly carriedDispositions: readonly Disposition[]
  /** Model resolved for model lenses; the key is not in here. */
  readonly model: { readonly model: string; readonly baseUrl: string } | undefined
  /** Milliseconds since the epoch, UTC: when the plan was made. */
  readonly plannedAt: number
}

/** True if a whole verdict with this plan key exists: the run shows it again (LE1, PR4). */
export function isRestated(run: Run, plan: Pick<Plan, 'kind' | 'planKey'>): boolean {
  if (run.kind !== 'full' || plan.kind !== 'full') return false
  return run.concludedPlanKey === plan.planKey && run.concludedWhole !== false
}
