/** Parking: reviews with a throttled model wait again, their run says so, and after too long a time the reviews are given up. */

import { failpoint } from '../base/failpoints.ts'
import { type Documents, getDocument, putDocument } from '../documents/documents.ts'
import type { Fence } from '../fleet/lease.ts'
import { withoutIdle } from '../fleet/schedule.ts'
import type { Throttled } from '../fleet/throttling.ts'
import { dropTicket, readFleet, readQueues, writeFleet } from '../ledger/fleet.ts'
import { failWaiting, releaseReview, ticketOf } from '../ledger/review.ts'
import { readRun, writeParked } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import { inProgressCheckRun, parkedCheckRun } from '../publishing/check-run.ts'
import type { CheckRunResource } from '../publishing/github-payloads.ts'
import type { Review } from '../runs/review.ts'
import type { Reason, Run } from '../runs/run.ts'
import { planSchema } from '../verdict/plan.ts'
import type { Coordinator } from './coordinator.ts'
import { tellDone } from './end-review.ts'
import { closePool, enqueue, slotOf } from './grant-slots.ts'

/**
 * Releases lease and slot of a throttled review, closes the pool and queues the review again. False, without any change, if
 * another worker holds the lease. No loss is counted. After a death between the steps the slot is void, and the next throttled
 * review closes the pool. Rejects as `closePool`; by then the review waits.
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
  // After a repeated Admit the review waits already; otherwise the state machine calls Admit now.
  if (released.state === 'waiting') await enqueue(coordinator, released)
  return true
}

/** Fails a waiting review and answers its task; no effect on a review in any other state. Repeatable. */
export async function giveUpWaiting(coordinator: Coordinator, review: Review, reason: Reason): Promise<void> {
  const failed = await failWaiting(coordinator.ledger, review, reason)
  if (!failed) return
  FAILPOINT: await failpoint('give_up.written')
  await dropTicket(coordinator.ledger, ticketOf(review))
  await tellDone(coordinator, failed)
}

/**
 * Opens closed pools whose time has come and for which no review waits: no probe would ever open such a pool. A refused write
 * is not repeated, as the next sweep looks again.
 */
export async function forgetIdlePools({ ledger, now, nonce }: Coordinator): Promise<void> {
  const fleet = await readFleet(ledger)
  if (Object.keys(fleet.closed).length === 0) return
  const waitedFor = (await readQueues(ledger)).map(({ pool }) => pool)
  await writeFleet(ledger, fleet, withoutIdle(fleet, waitedFor, now()), nonce(), now())
}

export interface ShowParkedDeps extends Pick<Coordinator, 'ledger' | 'now'> {
  readonly documents: Documents
}

/** Times are ms UTC. */
export interface Parking {
  readonly pool: string
  readonly since: number
  readonly nextTry: number
}

/** Marks the run as parked and shows the mark in its check run, once; no effect on another attempt. Repeatable. */
export async function showParked(deps: ShowParkedDeps, run: Run, parking: Parking): Promise<void> {
  const { pool, since } = parking
  const { patienceMs } = deps.ledger.timings
  await show(deps, run, { pool, since }, () => parkedCheckRun(run, { ...parking, givenUpAt: since + patienceMs }))
}

/** Removes the mark of a parked run and shows in its check run that the reviews go on. Repeatable. */
export async function showGoingOn(deps: ShowParkedDeps, run: Run): Promise<void> {
  await show(deps, run, undefined, async () => {
    const { reviews } = await getDocument(deps.documents, run.plan ?? '', planSchema)
    return inProgressCheckRun(run, [...new Set(reviews.map(({ lens }) => lens))])
  })
}

/** Post is not nudged: the raised check run is due soon, and a parked review can wait. */
async function show(
  { ledger, documents, now }: ShowParkedDeps,
  run: Run,
  mark: Run['parked'],
  checkRun: () => CheckRunResource | Promise<CheckRunResource>,
): Promise<void> {
  const isShown = ({ parked }: Run) => (parked === undefined) === (mark === undefined)
  if (isShown(run)) return
  const document = await putDocument(documents, await checkRun())
  await contended(async () => {
    const current = await readRun(ledger, run.runId)
    if (current?.attempt !== run.attempt || current.state !== 'running' || isShown(current)) return 'nothing'
    const wanted = [{ kind: 'check_run', key: run.head, document }]
    return writeParked(ledger, current, mark, { wanted, now: now() })
  })
  FAILPOINT: await failpoint('show_parked.raised')
}
