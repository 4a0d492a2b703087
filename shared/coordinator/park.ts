/** Parking a review whose model is throttled: it gives its lease and its place back, its pool closes, and it waits again. */

import { failpoint } from '../base/failpoints.ts'
import type { Fence } from '../fleet/lease.ts'
import type { Throttled } from '../fleet/throttling.ts'
import { releaseReview } from '../ledger/review.ts'
import type { Review } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'
import { closePool, enqueue, slotOf } from './grant-slots.ts'

/**
 * False if the lease was another's already: then nothing has changed. No loss is counted. Who dies after the first step
 * leaves a void slot, and a pool that the next review closes. Rejects as `closePool`; the review waits by then.
 */
export async function parkReview(
  coordinator: Coordinator,
  review: Review,
  fence: Fence,
  throttled: Pick<Throttled, 'since' | 'until'>,
): Promise<boolean> {
  const { ledger, now } = coordinator
  const released = await releaseReview(ledger, review, { ...fence, now: now(), throttledSince: throttled.since })
  if (!released) return false
  FAILPOINT: await failpoint('park.released')
  await closePool(coordinator, slotOf(review), throttled.until)
  FAILPOINT: await failpoint('park.pool_closed')
  // An Admit that came again meanwhile waits already; else the state machine comes now.
  if (released.state === 'waiting') await enqueue(coordinator, released)
  return true
}
