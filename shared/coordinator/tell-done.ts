/** Tells the task that waits for a review that is done. */
import { answerToken } from '../aws/executions.ts'
import { settleDone } from '../ledger/review.ts'
import { reached } from '../points.ts'
import type { Review } from '../review.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * Answers the token of a done review, if it has one, and only then takes it off: until then the review is due, so that
 * the sweeper tells what a process that died here did not. Repeatable: a second answer is only dead.
 */
export async function tellDone(coordinator: Coordinator, review: Review): Promise<void> {
  const { token, state, epoch } = review
  if (token === undefined) return
  await answerToken(coordinator.executions, token, { outcome: state, epoch })
  POINT: await reached('tell_done.answered')
  await settleDone(coordinator.ledger, review)
}
