/** The admission of a review: the run and the review as read in, one decision out. Pure. */
import { isDone, type Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'

export type Admission =
  /** The review is done in this attempt. */
  | { readonly kind: 'answer'; readonly outcome: 'completed' | 'failed' | 'ended' }
  /** The review has its slot already: the new token is answered at once. */
  | { readonly kind: 'granted' }
  /** The review waits for a slot, in its queue. */
  | { readonly kind: 'enqueue' }
  /** A worker holds the lease: the token is answered on completion, or after a take-back. */
  | { readonly kind: 'wait' }

/** Why a run wants no reviews for this attempt; undefined if reviews are wanted. */
export function refusalOf(run: Run | undefined, attempt: number): 'ended' | 'held' | undefined {
  if (!run || run.attempt !== attempt) return 'ended'
  if (run.state === 'held') return 'held'
  return run.state === 'running' ? undefined : 'ended'
}

/** The admission for each state of a review. */
export function admissionOf(review: Review): Admission {
  if (review.state === 'completed' || review.state === 'failed' || review.state === 'ended') {
    return { kind: 'answer', outcome: review.state }
  }
  if (review.state === 'granted') return { kind: 'granted' }
  return { kind: review.state === 'leased' ? 'wait' : 'enqueue' }
}

/** True if the second reading is needed: a completed review has a blocking finding. */
export function needsAdjudication(reviews: readonly Review[]): boolean {
  return reviews.some(({ state, lens, blocking }) => isDone(state) && lens !== 'adjudication' && (blocking ?? 0) > 0)
}
