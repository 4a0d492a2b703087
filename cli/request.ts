/** What is asked for when a head is to be reviewed, what is onProgress meanwhile, and what comes back: plain data, also between processes. */
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
  /** True: a new head continues the series of the pull request; false: it begins one. */
  thread: z.boolean(),
  /** True: Muster is asked again even if nothing has changed since its review. */
  askAgain: z.boolean(),
})

export type ReviewRequest = z.infer<typeof reviewRequestSchema>

/** What was done to the pull request, as a person would on GitHub. */
export type PullRequestChange = 'opened' | 'pushed' | 'retargeted' | 'edited' | 'asked_again' | 'none'

export type Progress =
  | {
      readonly kind: 'pull_request'
      /** `owner/name#number` */
      readonly name: string
      /** Its page. */
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
  /** True if this head was reviewed before, and nothing was posted now. */
  readonly alreadyReviewed: boolean
  /** Page of the pull request. */
  readonly url: string
  /** The summary as it stands on the pull request, without what is for programs only. */
  readonly markdown: string
  readonly conclusion: Conclusion
}

/** Reviews a head to its end. Rejects with the signal's reason when that aborts; the review itself goes on where it can. */
export type Reviewer = (
  request: ReviewRequest,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<ReviewOutcome>
