/** Says a review once: created pending, which GitHub allows once per author and nobody else sees, then submitted by id. */
import type { ReviewMessage } from '../publishing/github-payloads.ts'
import { orUnanswered, orUnknown, type Stopped, type Unknown } from '../publishing/outcome.ts'
import { type Answered, afterStep, firstStep, type Said, type Step } from '../publishing/review-steps.ts'
import type { GitHub, Repo } from './github.ts'
import { ownReviews } from './own-reviews.ts'

export interface SayOptions {
  /** Asked right before each step that others would see or that removes something: our lease, the live run, the head, halts. */
  readonly checks: () => Promise<'go' | 'stop'>
  /** Told the pending review's id before it is submitted, so that it can be kept. */
  readonly onPending?: (reviewId: number) => Promise<void>
  /**
   * What `onPending` was told in an earlier call for this message. GitHub's lists lag, but a submit by id doesn't: with
   * it no second review is made even if the list shows nothing of the first.
   */
  readonly pendingId?: number | undefined
}

/**
 * Brings `message` onto the pull request and reads it back. Repeatable at any point, by anyone: what is there is looked
 * at first, by marker and our own author. Throws `dead` for what never works; all that may pass is `unknown`.
 *
 * An inline comment that GitHub refuses stands in the body, in full as far as it fits (A4). GitHub refuses the whole review
 * then and doesn't say why, so it is looked for, with log2(n) further tries; if several are refused, all stand there (AW79).
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
