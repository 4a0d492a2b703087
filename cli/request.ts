/** The request for a review of a head, its progress and its outcome: plain data, also between processes. */
import * as z from 'zod'
import type { Reason, RunState } from '../shared/runs/run.ts'
import type { Conclusion } from '../shared/verdict/conclusion.ts'
import type { LensProgress } from './run-view.ts'

const branch = z.strictObject({ ref: z.string().min(1), sha: z.string().min(40) })

export const reviewRequestSchema = z.strictObject({
  repository: z.strictObject({ owner: z.string().min(1), name: z.string().min(1) }),
  /** Absolute; only ever read. */
  gitDirectory: z.string().min(1),
  base: branch,
  head: branch,
  title: z.string(),
  body: z.string().nullable(),
  /** Login of the pull request's author. */
  author: z.string().min(1),
  /** True: a new head continues the series of the pull request; false: a new head begins a series. */
  thread: z.boolean(),
  /** True: Muster is asked again even without a change since its review. */
  askAgain: z.boolean(),
})

export type ReviewRequest = z.infer<typeof reviewRequestSchema>

/** The change of the pull request, as a person would make it on GitHub. */
export type PullRequestChange = 'opened' | 'pushed' | 'retargeted' | 'edited' | 'asked_again' | 'none'

export type Progress =
  | {
      readonly kind: 'pull_request'
      /** `owner/name#number` */
      readonly name: string
      /** Page of the pull request. */
      readonly url: string
      readonly change: PullRequestChange
    }
  | {
      readonly kind: 'run'
      readonly attempt: number
      readonly state: RunState
      readonly reason?: Reason
      readonly lenses: readonly LensProgress[]
    }

export interface ReviewOutcome {
  /** True if an earlier call reviewed this head, and this call posted nothing. */
  readonly alreadyReviewed: boolean
  /** Page of the pull request. */
  readonly url: string
  /** The summary on the pull request, without the hidden parts for programs. */
  readonly markdown: string
  readonly conclusion: Conclusion
}

/**
 * Reviews a head to its end. Rejects with the signal's reason after an abort; the review itself goes on where it can.
 */
export type Reviewer = (
  request: ReviewRequest,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<ReviewOutcome>
