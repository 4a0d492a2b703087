/** What admitting a review comes to, given the run and the review as they are. Pure. */
import { isDone, type Review } from '../../shared/review.ts'
import type { Run } from '../../shared/run.ts'

export type Admission =
  /** The run has moved on: nobody needs this review any more. */
  | { readonly kind: 'answer'; readonly outcome: 'ended' | 'held' | 'completed' | 'failed' | 'not_needed' }
  /** It has its place already, and the new token is told so at once. */
  | { readonly kind: 'granted' }
  /** It waits, or is being worked on under a live lease: the token is answered later. */
  | { readonly kind: 'wait'; readonly enqueue: boolean }

/** Whether the run of this attempt still wants reviews; undefined if it does. */
export function refusalOf(run: Run | undefined, attempt: number): 'ended' | 'held' | undefined {
  if (!run || run.attempt !== attempt) return 'ended'
  if (run.state === 'held') return 'held'
  return run.state === 'running' ? undefined : 'ended'
}

/** What a review's state means for the one who waits for it. */
export function admissionOf(review: Review): Admission {
  if (review.state === 'completed' || review.state === 'failed' || review.state === 'ended') {
    return { kind: 'answer', outcome: review.state }
  }
  if (review.state === 'granted') return { kind: 'granted' }
  return { kind: 'wait', enqueue: review.state === 'waiting' }
}

/** True if the second reading is needed: a blocking finding stands in a completed review. */
export function needsAdjudication(reviews: readonly Review[]): boolean {
  return reviews.some(({ state, lens, blocking }) => isDone(state) && lens !== 'adjudication' && (blocking ?? 0) > 0)
}
