/** The recheck of a settled review: an unanswered call may have left a review behind (IL2, IL14). */

import { notVisible, orUnanswered, orUnknown, type Stopped, type Unknown } from '../publishing/outcome.ts'
import type { Said } from '../publishing/review-steps.ts'
import { hasLine } from '../publishing/review-version.ts'
import type { GitHub, Repo } from './github.ts'
import { ownReviews } from './own-reviews.ts'

/** No review with the marker stands on the pull request. */
export interface Absent {
  readonly state: 'absent'
}

/** A refused deletion means a submit: one more read shows the review. */
const READS_MAX = 3

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
    for (let reads = 0; reads < READS_MAX; reads += 1) {
      const { said, pending } = await ownReviews(github, repo, number, marker)
      const left = pending.filter((review) => hasLine(review.body, marker))
      if (left.length === 0) return said ?? { state: 'absent' }
      for (const { id } of left) {
        if ((await checks()) === 'stop') return { state: 'stopped' }
        await orUnanswered(github.deletePendingReview(repo, number, id))
      }
    }
    throw notVisible('The deletion of a pending review')
  })
}
