/** What admitting a review comes to, given the run and the review as they are. Pure. */
import { isDone, type Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'

export type Admission =
  /** Nothing more happens to it in this attempt. */
  | { readonly kind: 'answer'; readonly outcome: 'completed' | 'failed' | 'ended' }
  /** It has its place already, and the new token is told so at once. */
  | { readonly kind: 'granted' }
  /** It waits for a place, in its queue. */
  | { readonly kind: 'enqueue' }
  /** A worker holds its lease: the token is answered when that one completes, or when the review is taken back. */
  | { readonly kind: 'wait' }

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
  return { kind: review.state === 'leased' ? 'wait' : 'enqueue' }
}

/** True if the second reading is needed: a blocking finding stands in a completed review. */
export function needsAdjudication(reviews: readonly Review[]): boolean {
  return reviews.some(({ state, lens, blocking }) => isDone(state) && lens !== 'adjudication' && (blocking ?? 0) > 0)
}
