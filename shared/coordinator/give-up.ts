/** Giving up what waits for a throttled model: a review whose patience is over, and a closed pool that nobody waits for. */

import { failpoint } from '../base/failpoints.ts'
import { withoutIdle } from '../fleet/schedule.ts'
import { dropTicket, readFleet, readQueues, writeFleet } from '../ledger/fleet.ts'
import { failWaiting, ticketOf } from '../ledger/review.ts'
import type { Review } from '../runs/review.ts'
import type { Reason } from '../runs/run.ts'
import type { Coordinator } from './coordinator.ts'
import { tellDone } from './tell-done.ts'

/** Fails a review that waits, and tells who waits for it; nothing happens if it has moved on since. Repeatable. */
export async function giveUpWaiting(coordinator: Coordinator, review: Review, reason: Reason): Promise<void> {
  const failed = await failWaiting(coordinator.ledger, review, reason)
  if (!failed) return
  FAILPOINT: await failpoint('give_up.written')
  await dropTicket(coordinator.ledger, ticketOf(review))
  await tellDone(coordinator, failed)
}

/**
 * Forgets that pools are closed whose time has come and for which nobody waits: there is nobody to try them. Who comes next
 * finds out how the model is. What others change meanwhile is looked at the next time.
 */
export async function forgetIdlePools({ ledger, now, nonce }: Coordinator): Promise<void> {
  const fleet = await readFleet(ledger)
  if (Object.keys(fleet.closed).length === 0) return
  const waitedFor = (await readQueues(ledger)).map(({ pool }) => pool)
  await writeFleet(ledger, fleet, withoutIdle(fleet, waitedFor, now()), nonce(), now())
}
