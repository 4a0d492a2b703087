/** Our own reviews of a pull request, known by author and marker. */
import type { Said } from '../publishing/review-steps.ts'
import { hasLine } from '../publishing/review-version.ts'
import type { GitHub, Repo, ReviewSeen } from './github.ts'

/**
 * The oldest submitted review with the marker as said, and all pending reviews. Of a list beyond the bound the newest
 * reviews are read: a review of the run can't be older.
 */
export async function ownReviews(
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
