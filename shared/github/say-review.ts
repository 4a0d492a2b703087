/** Says a review once: created pending, which GitHub allows once per author and hides from others, then submitted. */

import { REVIEW_RECHECK_READS_MAX } from '../base/limits.ts'
import type { ReviewMessage } from '../publishing/github-payloads.ts'
import { notVisible, orUnanswered, orUnknown, type Stopped, type Unknown } from '../publishing/outcome.ts'
import { type Answered, afterStep, firstStep, type Said, type Step } from '../publishing/review-steps.ts'
import { hasLine } from '../publishing/review-version.ts'
import type { GitHub, Repo, ReviewSeen } from './github.ts'

/** No review with the marker stands on the pull request. */
export interface Absent {
  readonly state: 'absent'
}

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

/**
 * Deletes every pending review of ours with the marker, and answers the submitted one. Pending reviews of other
 * messages stay. `checks` is asked right before each deletion. Repeatable.
 */
export async function recheckReview(
  github: GitHub,
  repo: Repo,
  number: number,
  marker: string,
  checks: () => Promise<'go' | 'stop'>,
): Promise<Said | Absent | Stopped | Unknown> {
  return orUnknown<Said | Absent | Stopped>(async () => {
    for (let reads = 0; reads < REVIEW_RECHECK_READS_MAX; reads += 1) {
      const { said, pending } = await ownReviews(github, repo, number, marker)
      const left = pending.filter((review) => hasLine(review.body, marker))
      if (left.length === 0) return said ?? { state: 'absent' }
      for (const { id } of left) {
        if ((await checks()) === 'stop') return { state: 'stopped' }
        await orUnanswered(github.deletePendingReview(repo, number, id))
      }
    }
    throw notVisible('the deletion of a pending review')
  })
}

/**
 * The oldest submitted review with the marker as said, and all pending reviews. Of a list beyond the bound the newest
 * reviews are read: a review of the run can't be older.
 */
async function ownReviews(
  github: GitHub,
  repo: Repo,
  number: number,
  marker: string,
): Promise<{ readonly said: Said | undefined; readonly pending: readonly ReviewSeen[] }> {
  const { rows } = await github.reviews(repo, number)
  const ours = rows.filter((review) => review.authorIsUs)
  const pending = ours.filter(({ state }) => state === 'PENDING')
  const submitted = ours.filter(({ state, body }) => state !== 'PENDING' && hasLine(body, marker))
  const [first, ...repeated] = submitted.toSorted((a, b) => a.id - b.id)
  return { said: first && { state: 'said', reviewId: first.id, repeated: repeated.length }, pending }
}
