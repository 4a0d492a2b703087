/** A second look at a review that was settled: what a call that nobody got the answer of has left behind since (IL2, IL14). */
import type { GitHub, Repo } from './github.ts'
import { hasLine, ownReviews } from './own-reviews.ts'
import { notShown, orLook, orUnknown, type Unknown } from './shown-outcome.ts'

export type RecheckedReview =
  /** No pending review with the marker is left. `reviewId` is the one that was submitted, `repeated` how many more were. */
  | { readonly state: 'looked'; readonly reviewId: number | undefined; readonly repeated: number }
  /** `checks` said stop before a deletion. */
  | { readonly state: 'stopped' }
  | Unknown

/** A deletion that is refused means that it was submitted meanwhile: seen by one more look. */
const LOOKS_MAX = 3

/**
 * Deletes every pending review of ours with this marker, and tells what is submitted. Another message's pending review is
 * left alone. `checks` is asked right before each deletion. Repeatable.
 */
export async function recheckReview(
  github: GitHub,
  repo: Repo,
  number: number,
  marker: string,
  checks: () => Promise<'go' | 'stop'>,
): Promise<RecheckedReview> {
  return orUnknown<RecheckedReview>(async () => {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const { said, pending } = await ownReviews(github, repo, number, marker)
      const left = pending.filter((review) => hasLine(review.body, marker))
      if (left.length === 0) {
        return { state: 'looked', reviewId: said[0]?.id, repeated: Math.max(0, said.length - 1) }
      }
      for (const { id } of left) {
        if ((await checks()) === 'stop') return { state: 'stopped' }
        await orLook(github.deletePendingReview(repo, number, id))
      }
    }
    return notShown('The deletion of a pending review')
  })
}
