/** Takes up a due review: tells its task, ends, queues or fails the review, or takes it back from a dead worker. */
import { aboutReview } from '../../shared/aws/log.ts'
import { endUnwanted, tellDone } from '../../shared/coordinator/end-review.ts'
import { enqueue, grantSlots, slotOf } from '../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { giveUpWaiting, showParked } from '../../shared/coordinator/parking.ts'
import { takeBackEnded } from '../../shared/coordinator/take-back.ts'
import { modelOfPool } from '../../shared/fleet/pools.ts'
import { impatience, parkedSince } from '../../shared/fleet/throttling.ts'
import { isQueued, readFleet } from '../../shared/ledger/fleet.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { readReview, ticketOf } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { isDone, type Review, reviewIdOf } from '../../shared/runs/review.ts'
import type { Run } from '../../shared/runs/run.ts'
import { isWanted } from './core/sweep.ts'
import type { Tick } from './core/tick.ts'
import type { SweepDeps } from './deps.ts'

export async function takeUpReview(deps: SweepDeps, due: Review, tick: Tick): Promise<void> {
  const { ledger } = deps
  const review = await readReview(ledger, due)
  if (!review) return
  // The worker died after the completion, before the task was told.
  if (isDone(review.state)) return tellDone(deps, review)
  const run = await readRun(ledger, review.runId)
  if (!isWanted(review, run)) {
    await endUnwanted(deps, review, 'ended')
    return grantSlots(deps, [slotOf(review)])
  }
  if (review.state === 'waiting') return takeUpWaiting(deps, { review, run }, tick)
  await takeBackEnded(deps, review)
}

/** A waiting review costs no write: thousands may wait. */
async function takeUpWaiting(deps: SweepDeps, { review, run }: { review: Review; run: Run }, tick: Tick) {
  const { ledger } = deps
  // Under a halt no slot is granted, and the run waits as a whole, not each of its reviews.
  if (await standingHalt(ledger, run.repository)) {
    await holdForHalt(deps, run)
    return
  }
  if (await takeUpParked(deps, review, run)) return
  // Ticket or marker may have been lost with their writer. To put both again is harmless.
  if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(deps, review)
  // A process may have died between a release and its hand-over; one hand-over serves all waiting reviews.
  return tick.once('hand_on', () => grantSlots(deps))
}

/** Shows a review as parked while its pool is closed; true if its patience is over and the review was given up (L2). */
async function takeUpParked(deps: SweepDeps, review: Review, run: Run): Promise<boolean> {
  const { ledger, now, log } = deps
  if (modelOfPool(review.pool) === undefined) return false
  const { closed, slots } = await readFleet(ledger)
  const closing = closed[review.pool]
  if (!closing || slots[reviewIdOf(review)]) return false
  const since = parkedSince(review, run, closing)
  if (now() - since < ledger.timings.patienceMs) {
    await showParked(deps, run, { pool: review.pool, since, nextTry: closing.until })
    return false
  }
  const reason = impatience(review.pool, ledger.timings.patienceMs)
  await giveUpWaiting(deps, review, reason)
  log.info('Given up', { ...aboutReview(review), code: reason.code })
  return true
}
