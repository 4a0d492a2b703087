/** Hands the fleet's slots on: released slots go to waiting reviews in the same write. */
import { answerToken } from '../aws/executions.ts'
import { failpoint } from '../base/failpoints.ts'
import { CONFLICT_TRIES_MAX, FLEET_SLOTS_MAX, GRANT_FRESH_MS, SLOTS_PER_WRITE_MAX } from '../base/limits.ts'
import {
  closedBy,
  type Fleet,
  freeSlots,
  openedBy,
  type SlotHolder,
  schedule,
  type Ticket,
  withGrants,
  withoutSlots,
} from '../fleet/schedule.ts'
import { dropTicket, queueTicket, readFleet, writeFleet } from '../ledger/fleet.ts'
import { standingHalts } from '../ledger/halt.ts'
import { dropToken, grantReview, ticketOf } from '../ledger/review.ts'
import { contended } from '../ledger/table.ts'
import { parseReviewId, type Review, reviewIdOf } from '../runs/review.ts'
import type { Coordinator } from './coordinator.ts'
import { isHalted, openQueues, waitingTickets } from './queues.ts'

/** Rounds of one hand-over: every round but the last finishes a ticket, and the fleet's size bounds these. */
const HAND_OVER_ROUNDS_MAX = FLEET_SLOTS_MAX + CONFLICT_TRIES_MAX

/**
 * Releases the `releases` still held, and grants slots until no grant is allowed any more. After every write with free slots
 * left, the queues are read again: no ticket written meanwhile is left waiting (IL8, IL13). The writer of a grant finishes it;
 * an older unfinished grant among `known` is finished here, also in a full fleet (IL7).
 */
export async function grantSlots(
  coordinator: Coordinator,
  releases: readonly SlotHolder[] = [],
  known: readonly Ticket[] = [],
): Promise<void> {
  const [first = [], ...rest] = chunksOf(releases)
  await handOver(coordinator, first.length > 0 ? (fleet) => withoutSlots(fleet, first) : unchanged, known)
  for (const holders of rest) await handOver(coordinator, (fleet) => withoutSlots(fleet, holders))
}

/**
 * Releases the slot of a throttled review and closes its pool until `until` (ms UTC), in one write: no further review gets the
 * slot only to be throttled too. No effect if the holder has lost the slot (I8). Repeatable.
 */
export async function closePool(coordinator: Coordinator, holder: SlotHolder, until: number): Promise<void> {
  const now = coordinator.now()
  await handOver(coordinator, (fleet) => withoutSlots(closedBy(fleet, holder, { until, now }), [holder]))
}

/**
 * Opens the pool if the holder is its probe, and grants the free slots to the reviews waiting in the pool. Called before the
 * slot's release: the next holder finds the pool open. True if the pool is open then; false if the holder has lost the slot.
 * Repeatable.
 */
export async function openPool(coordinator: Coordinator, holder: SlotHolder): Promise<boolean> {
  const fleet = await readFleet(coordinator.ledger)
  const slot = fleet.slots[holder.reviewId]
  if (openedBy(fleet, holder) === fleet) return slot !== undefined && fleet.closed[slot.pool] === undefined
  await handOver(coordinator, (before) => openedBy(before, holder))
  return true
}

/** Grants a waiting review its slot at once, or writes its ticket and grants whatever is allowed. Repeatable. */
export async function enqueue(coordinator: Coordinator, review: Review): Promise<void> {
  const ticket = ticketOf(review)
  if (await contended(() => grantAtOnce(coordinator, ticket))) return
  await queueTicket(coordinator.ledger, ticket, coordinator.nonce(), coordinator.now())
  FAILPOINT: await failpoint('ticket.queued')
  await grantSlots(coordinator, [], [ticket])
}

/**
 * With a free slot and no waiting review that may have it, no ticket is written, which saves three of a review's nine writes.
 * False otherwise. An unfinished grant is found by its review, which is due.
 */
async function grantAtOnce(coordinator: Coordinator, ticket: Ticket): Promise<boolean | 'again'> {
  const { ledger, now, nonce } = coordinator
  const before = await readFleet(ledger)
  const grants = schedule(before, [ticket], now())
  if (grants.length === 0) return false
  const [queues, halts] = await Promise.all([openQueues(coordinator, before), standingHalts(ledger)])
  if (queues.length > 0 || isHalted(halts, ticket)) return false
  if (!(await writeFleet(ledger, before, withGrants(before, grants, now()), nonce(), now()))) return 'again'
  FAILPOINT: await failpoint('grant.fleet_written')
  if ((await tellGrant(coordinator, ticket)) === 'void') await grantSlots(coordinator, [ticket])
  return true
}

/** Completes a grant whose fleet write is done: the review, the answer, the ticket. Repeatable by anyone (IL7). */
export async function finishGrant(coordinator: Coordinator, ticket: Ticket): Promise<'granted' | 'void'> {
  const outcome = await tellGrant(coordinator, ticket)
  FAILPOINT: await failpoint('grant.told')
  await dropTicket(coordinator.ledger, ticket)
  return outcome
}

/** Tells the waiting task of its review's slot. A dead answer proves nothing about the review: only the token is removed. */
export async function answerGrant(coordinator: Coordinator, review: Review): Promise<void> {
  if (review.token === undefined) return
  const answer = await answerToken(coordinator.executions, review.token, { outcome: 'granted', epoch: review.epoch })
  if (answer !== 'dead') return
  FAILPOINT: await failpoint('grant.answer_dead')
  await dropToken(coordinator.ledger, review, review.token)
}

async function tellGrant(coordinator: Coordinator, ticket: Ticket): Promise<'granted' | 'void'> {
  const name = parseReviewId(ticket.reviewId)
  const review = name && (await grantReview(coordinator.ledger, { name, epoch: ticket.epoch }, coordinator.now()))
  if (!review) return 'void'
  FAILPOINT: await failpoint('grant.review_written')
  await answerGrant(coordinator, review)
  return 'granted'
}

/** Makes the change and grants the free slots, round by round. */
async function handOver(
  coordinator: Coordinator,
  firstChange: (fleet: Fleet) => Fleet,
  knownTickets: readonly Ticket[] = [],
): Promise<void> {
  let change = firstChange
  let known = knownTickets
  for (let round = 0; round < HAND_OVER_ROUNDS_MAX; round += 1) {
    let pending = change
    const { goesOn, voids } = await contended(async () => {
      const done = await handOverOnce(coordinator, pending, known)
      // Another process hands slots on at the same moment. A change alone is hardly ever refused, and the first process
      // to succeed grants for all.
      if (done === 'again' && (await changeOnce(coordinator, pending))) pending = unchanged
      return done
    })
    if (!goesOn) return
    change = voids.length > 0 ? (fleet) => withoutSlots(fleet, voids) : unchanged
    known = []
  }
}

const unchanged = (fleet: Fleet): Fleet => fleet

/** The change without any grant; false if it is refused. */
async function changeOnce(coordinator: Coordinator, change: (fleet: Fleet) => Fleet): Promise<boolean> {
  const { ledger, nonce, now } = coordinator
  if (change === unchanged) return true
  const before = await readFleet(ledger)
  const next = change(before)
  return next === before || writeFleet(ledger, before, next, nonce(), now())
}

/** The result of one hand-over: whether more grants may follow, and the slots granted to void tickets. */
interface HandedOver {
  readonly goesOn: boolean
  readonly voids: readonly SlotHolder[]
}

async function handOverOnce(
  coordinator: Coordinator,
  change: (fleet: Fleet) => Fleet,
  known: readonly Ticket[],
): Promise<HandedOver | 'again'> {
  const { ledger, now, nonce } = coordinator
  const before = await readFleet(ledger)
  const changed = change(before)
  const queued = freeSlots(changed) > 0 ? await waitingTickets(coordinator, changed) : []
  const waiting = [...queued, ...known.filter((ticket) => !queued.some((inQueue) => isSame(ticket, inQueue)))]

  // A ticket of a later epoch than its review's slot: a take-back came in between, and the slot is void.
  const replaced = waiting
    .map(({ reviewId, epoch }) => ({ reviewId, epoch: epoch - 1 }))
    .filter((holder) => withoutSlots(changed, [holder]) !== changed)
  const freed = withoutSlots(changed, replaced.slice(0, SLOTS_PER_WRITE_MAX))
  const leftBehind = waiting.filter((ticket) => isLeftBehind(freed, ticket, now()))
  // Of `known`, only tickets read from a queue as well: a caller's own ticket knows neither halts nor other queues.
  const grants = schedule(freed, queued, now()).slice(0, SLOTS_PER_WRITE_MAX)
  const next = withGrants(freed, grants, now())
  if (next !== before && !(await writeFleet(ledger, before, next, nonce(), now()))) return 'again'
  FAILPOINT: await failpoint('hand_over.fleet_written')
  const voids = await finishAll(coordinator, [...leftBehind, ...grants])
  // In a full fleet the next release looks again.
  const mayGrantMore = (next !== before && freeSlots(next) > 0) || replaced.length > SLOTS_PER_WRITE_MAX
  return { goesOn: mayGrantMore || leftBehind.length > 0 || voids.length > 0, voids }
}

/** As many slots at a time as one write can name. */
function chunksOf(holders: readonly SlotHolder[]): (readonly SlotHolder[])[] {
  const starts = Array.from({ length: Math.ceil(holders.length / SLOTS_PER_WRITE_MAX) }, (_, index) => index)
  return starts.map((index) => holders.slice(index * SLOTS_PER_WRITE_MAX, (index + 1) * SLOTS_PER_WRITE_MAX))
}

function isSame(a: SlotHolder, b: SlotHolder): boolean {
  return a.reviewId === b.reviewId && a.epoch === b.epoch
}

/** True for the ticket of a review with a slot: its grant is void, or unfinished for a while (IL7). */
function isLeftBehind(fleet: Fleet, ticket: Ticket, now: number): boolean {
  const slot = fleet.slots[ticket.reviewId]
  if (!slot) return false
  const age = now - slot.since
  return ticket.epoch < slot.epoch || age < 0 || age >= GRANT_FRESH_MS
}

/** Finishes every grant, then throws the first error, if any. Returns the void grants. */
async function finishAll(coordinator: Coordinator, tickets: readonly Ticket[]): Promise<SlotHolder[]> {
  const outcomes = await Promise.allSettled(tickets.map((ticket) => finishGrant(coordinator, ticket)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  return tickets.filter((_, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'fulfilled' && outcome.value === 'void'
  })
}

/** The slot of a review at its epoch. */
export function slotOf(review: Review): SlotHolder {
  return { reviewId: reviewIdOf(review), epoch: review.epoch }
}
