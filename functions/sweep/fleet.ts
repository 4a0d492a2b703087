/** Takes up the due fleet: hands void slots on, finishes grants, opens idle pools. */
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import { forgetIdlePools } from '../../shared/coordinator/parking.ts'
import { readFleet, restFleet } from '../../shared/ledger/fleet.ts'
import { readReview, ticketOf } from '../../shared/ledger/review.ts'
import { parseReviewId, type Review } from '../../shared/runs/review.ts'
import { voidSlots } from './core/sweep.ts'
import type { SweepDeps } from './deps.ts'

export async function takeUpFleet(deps: SweepDeps): Promise<void> {
  const fleet = await readFleet(deps.ledger)
  const reviews = new Map<string, Review | undefined>()
  for (const reviewId of Object.keys(fleet.slots)) {
    const name = parseReviewId(reviewId)
    reviews.set(reviewId, name && (await readReview(deps.ledger, name)))
  }
  // A waiting review with a slot: the granting process died before it finished the grant (IL7).
  const ungranted = [...reviews.values()].flatMap((review) => (review?.state === 'waiting' ? [ticketOf(review)] : []))
  await grantSlots(deps, voidSlots(fleet.slots, reviews), ungranted)
  await forgetIdlePools(deps)
  if (reviews.size === 0) await restFleet(deps.ledger)
}
