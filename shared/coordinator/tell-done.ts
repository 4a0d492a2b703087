/** Tells the task that waits for a review that is done. */
import { answerToken } from '../aws/executions.ts'
import { failpoint } from '../base/failpoints.ts'
import { settleDone } from '../ledger/review.ts'
import type { Review } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * Answers the token of a done review, and only then takes it off: until then the review is due, so that the sweeper tells
 * what a process that died here did not. One that is due without a token has nobody to be told any more: a grant that came
 * late found the token dead, and took it off. Repeatable: a second answer is only dead.
 */
export async function tellDone(coordinator: Coordinator, review: Review): Promise<void> {
  const { token, state, epoch } = review
  if (token !== undefined) {
    await answerToken(coordinator.executions, token, { outcome: state, epoch })
    FAILPOINT: await failpoint('tell_done.answered')
  }
  await settleDone(coordinator.ledger, review)
}
