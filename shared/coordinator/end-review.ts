/** Ends a review that nobody wants any more: its epoch is raised, who waits for it is told, its ticket goes. */
import { answerToken } from '../aws/executions.ts'
import { failpoint } from '../base/failpoints.ts'
import { dropTicket } from '../ledger/fleet.ts'
import { endReview, settleDone, ticketOf } from '../ledger/review.ts'
import type { Review } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'

/** Repeatable. Its slot is void from here on; the caller hands it on. */
export async function endUnwanted(coordinator: Coordinator, review: Review, outcome: 'ended' | 'held'): Promise<void> {
  const { ledger, executions } = coordinator
  const ended = await endReview(ledger, review)
  FAILPOINT: await failpoint('end_review.written')
  await dropTicket(ledger, ticketOf(review))
  FAILPOINT: await failpoint('end_review.ticket_dropped')
  if (ended?.token === undefined) return
  await answerToken(executions, ended.token, { outcome, epoch: review.epoch })
  FAILPOINT: await failpoint('end_review.answered')
  await settleDone(ledger, ended)
}
