/** The end of a review, and the answer to the task waiting for the review. */
import { answerToken } from '../aws/executions.ts'
import { failpoint } from '../base/failpoints.ts'
import { dropTicket } from '../ledger/fleet.ts'
import { endReview, settleDone, ticketOf } from '../ledger/review.ts'
import type { Review } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'

/** Ends a review unwanted by its run. The slot is void from here on; the caller hands the slot on. Repeatable. */
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

/**
 * Answers the token of a done review, and removes the token only then: after a death in between, the review is still due and
 * the sweeper answers. A due review without a token has no task to be told: a late grant found the token dead and removed it.
 * Repeatable: a second answer is dead.
 */
export async function tellDone(coordinator: Coordinator, review: Review): Promise<void> {
  const { token, state, epoch } = review
  if (token !== undefined) {
    await answerToken(coordinator.executions, token, { outcome: state, epoch })
    FAILPOINT: await failpoint('tell_done.answered')
  }
  await settleDone(coordinator.ledger, review)
}
