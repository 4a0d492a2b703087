/** Takes back a review from a dead worker: its slot is handed on; the review waits again, or fails and its task is told. */

import { failpoint } from '../base/failpoints.ts'
import type { LostWorker } from '../fleet/lease.ts'
import { takeBack } from '../ledger/review.ts'
import { isDone, type Review } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'
import { tellDone } from './end-review.ts'
import { enqueue, grantSlots, slotOf } from './grant-slots.ts'

/**
 * True if the grant or lease had ended, or `lost` says that the worker is dead, and this call took the review back. Each step
 * is repeatable: a death after the first leaves a void slot and a due review.
 */
export async function takeBackEnded(coordinator: Coordinator, review: Review, lost?: LostWorker): Promise<boolean> {
  const { ledger, now, nonce } = coordinator
  const { taken, review: current } = await takeBack(ledger, review, now(), { writer: nonce(), lost })
  if (!taken) return false
  FAILPOINT: await failpoint('take_back.written')
  await grantSlots(coordinator, [slotOf(review)])
  FAILPOINT: await failpoint('take_back.slot_released')
  if (current.state === 'waiting') await enqueue(coordinator, current)
  else if (isDone(current.state)) await tellDone(coordinator, current)
  return true
}
