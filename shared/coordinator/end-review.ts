/** Ends a review that nobody wants any more: its epoch is raised, who waits for it is told, its ticket goes. */
import { answerToken } from '../aws/executions.ts'
import { dropTicket } from '../ledger/fleet.ts'
import { endReview, ticketOf } from '../ledger/review.ts'
import type { Review } from '../review.ts'
import type { Coordinator } from './coordinator.ts'

/** Repeatable. Its slot is void from here on; the caller hands it on. */
export async function endUnwanted(coordinator: Coordinator, review: Review, outcome: 'ended' | 'held'): Promise<void> {
  const token = await endReview(coordinator.ledger, review)
  await dropTicket(coordinator.ledger, ticketOf(review))
  if (token !== undefined) await answerToken(coordinator.executions, token, { outcome, epoch: review.epoch })
}
