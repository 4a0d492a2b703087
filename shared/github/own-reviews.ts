/** Our own reviews of a pull request, known by author and marker. */
import type { Said } from '../publishing/review-steps.ts'
import { hasLine } from '../publishing/review-version.ts'
import type { GitHub, Repo, ReviewSeen } from './github.ts'

/**
 * What is said with this marker, by the oldest of the submitted ones, and all pending ones. Of a list that is too
 * long the newest are read, and a review of this run can't be older than those.
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
