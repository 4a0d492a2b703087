/**
 * Says a review once: created pending, which GitHub allows once per author and shows to nobody else, then submitted by
 * id.
 */
import type { ReviewMessage } from '../publishing/github-payloads.ts'
import { orUnanswered, orUnknown, type Stopped, type Unknown } from '../publishing/outcome.ts'
import { type Answered, afterStep, firstStep, type Said, type Step } from '../publishing/review-steps.ts'
import type { GitHub, Repo } from './github.ts'
import { ownReviews } from './own-reviews.ts'

export interface SayOptions {
  /** Asked right before each visible write and each deletion: our lease, the live run, the head, halts. */
  readonly checks: () => Promise<'go' | 'stop'>
  /** Gets the pending review's id before the submit, to keep the id. */
  readonly onPending?: (reviewId: number) => Promise<void>
  /**
   * The id that `onPending` got in an earlier call. GitHub's lists lag, a submit by id doesn't: with the id no second
   * review is made although the list lacks the first.
   */
  readonly pendingId?: number | undefined
}

/**
 * Brings `message` onto the pull request and reads the review back. Repeatable at any point, by anyone: our own reviews
 * are listed first, by marker and author. Throws `dead` for a refusal for good; a failure that may pass is `unknown`.
 * A refused inline comment stands in the body, in full as far as it fits (A4). GitHub refuses the whole review and
 * doesn't name the comment, so log2(n) further tries find it; of several refused comments all stand in the body (AW79).
 */
export async function sayReview(
  github: GitHub,
  repo: Repo,
  number: number,
  message: ReviewMessage,
  { checks, onPending, pendingId }: SayOptions,
): Promise<Said | Stopped | Unknown> {
  async function take(step: Step): Promise<Answered> {
    switch (step.name) {
      case 'list':
      case 'read_back':
        return { ...step, answer: await ownReviews(github, repo, number, message.marker) }
      case 'check':
        if (step.ours !== undefined) await onPending?.(step.ours.id)
        return { ...step, answer: await checks() }
      case 'create': {
        const review = { commitId: message.head, body: step.body, comments: step.comments }
        return { ...step, answer: await orUnanswered(github.createPendingReview(repo, number, review)) }
      }
      case 'submit': {
        const { ours, event } = step
        return { ...step, answer: await orUnanswered(github.submitReview(repo, number, ours.id, event, ours.body)) }
      }
      default:
        return { ...step, answer: await orUnanswered(github.deletePendingReview(repo, number, step.id)) }
    }
  }

  return orUnknown<Said | Stopped | Unknown>(async () => {
    let { known, step } = firstStep(message, pendingId)
    while (step.name !== 'end') ({ known, step } = afterStep(known, await take(step)))
    return step.outcome
  })
}
