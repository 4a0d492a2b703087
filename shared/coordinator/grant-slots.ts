/** Handing the fleet's places on: what is released goes to who waits, in the same write (DESIGN §5). */
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

/** Rounds of one hand-over: each one that isn't the last has finished a ticket, so the fleet's size bounds it. */
const ROUNDS_MAX = FLEET_SLOTS_MAX + CONFLICT_TRIES_MAX

/**
 * Gives `releases` up, if they are still held, and grants what may be granted, until nothing is allowed any more. After
 * every write that left a place free the queues are read again, so no ticket that came meanwhile is left waiting (IL8,
 * IL13). Who wrote a grant finishes it; an older one of `known` that nobody finished is finished here, also while the
 * fleet is full (IL7).
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
 * A throttled review gives its place up, and its pool is closed until then (ms UTC), in one write: so nobody takes the
 * place only to be throttled too. Nothing happens if the place is another's by now (I8). Repeatable.
 */
export async function closePool(coordinator: Coordinator, holder: SlotHolder, until: number): Promise<void> {
  const now = coordinator.now()
  await handOver(coordinator, (fleet) => withoutSlots(closedBy(fleet, holder, { until, now }), [holder]))
}

/**
 * A model has answered this review: if it is the probe of its pool, the pool opens, and who waits for it gets what is free.
 * To be called before the place is released: who takes it then finds the pool open. True if the pool is open then; false too
 * where the place is another's by now. Repeatable.
 */
export async function openPool(coordinator: Coordinator, holder: SlotHolder): Promise<boolean> {
  const fleet = await readFleet(coordinator.ledger)
  const slot = fleet.slots[holder.reviewId]
  if (openedBy(fleet, holder) === fleet) return slot !== undefined && fleet.closed[slot.pool] === undefined
  await handOver(coordinator, (before) => openedBy(before, holder))
  return true
}

/** Grants a waiting review its place at once, or puts it into its queue and grants what may be granted. Repeatable. */
export async function enqueue(coordinator: Coordinator, review: Review): Promise<void> {
  const ticket = ticketOf(review)
  if (await contended(() => grantAtOnce(coordinator, ticket))) return
  await queueTicket(coordinator.ledger, ticket, coordinator.nonce(), coordinator.now())
  FAILPOINT: await failpoint('ticket.queued')
  await grantSlots(coordinator, [], [ticket])
}

/**
 * Where a place is free and nobody waits who may have it, no ticket is written: that saves three of a review's nine writes.
 * False if that isn't so. A grant that is not finished is found by its review, which is due.
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

/** Tells the waiting task that its review has a place. A dead answer proves nothing about the review: only the token goes. */
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

/** Makes the change and hands on what is free after it, round by round. */
async function handOver(
  coordinator: Coordinator,
  firstChange: (fleet: Fleet) => Fleet,
  knownTickets: readonly Ticket[] = [],
): Promise<void> {
  let change = firstChange
  let known = knownTickets
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    let pending = change
    const { goesOn, voids } = await contended(async () => {
      const done = await handOverOnce(coordinator, pending, known)
      // Others hand on at this moment. A change alone is hardly ever refused, and the first of all to go on grants for all.
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

/** What one hand-over did: whether there may be more to do, and places that turned out to be given to nobody. */
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

  // A ticket of a later epoch than its review's slot: the review was taken back since, so that slot is void.
  const replaced = waiting
    .map(({ reviewId, epoch }) => ({ reviewId, epoch: epoch - 1 }))
    .filter((holder) => withoutSlots(changed, [holder]) !== changed)
  const freed = withoutSlots(changed, replaced.slice(0, SLOTS_PER_WRITE_MAX))
  const leftBehind = waiting.filter((ticket) => isLeftBehind(freed, ticket, now()))
  // Of `known` only what was read as well: a ticket of its own making knows of no halt and of no other queue.
  const grants = schedule(freed, queued, now()).slice(0, SLOTS_PER_WRITE_MAX)
  const next = withGrants(freed, grants, now())
  if (next !== before && !(await writeFleet(ledger, before, next, nonce(), now()))) return 'again'
  FAILPOINT: await failpoint('hand_over.fleet_written')
  const voids = await finishAll(coordinator, [...leftBehind, ...grants])
  // A full fleet is looked at again by who leaves it next.
  const mayGrantMore = (next !== before && freeSlots(next) > 0) || replaced.length > SLOTS_PER_WRITE_MAX
  return { goesOn: mayGrantMore || leftBehind.length > 0 || voids.length > 0, voids }
}

/** As many places as one write can name, at a time. */
function chunksOf(holders: readonly SlotHolder[]): (readonly SlotHolder[])[] {
  const starts = Array.from({ length: Math.ceil(holders.length / SLOTS_PER_WRITE_MAX) }, (_, index) => index)
  return starts.map((index) => holders.slice(index * SLOTS_PER_WRITE_MAX, (index + 1) * SLOTS_PER_WRITE_MAX))
}

function isSame(a: SlotHolder, b: SlotHolder): boolean {
  return a.reviewId === b.reviewId && a.epoch === b.epoch
}

/** True for a ticket of a review that has its slot: its grant is void, or nobody has finished it for a while (IL7). */
function isLeftBehind(fleet: Fleet, ticket: Ticket, now: number): boolean {
  const slot = fleet.slots[ticket.reviewId]
  if (!slot) return false
  const age = now - slot.since
  return ticket.epoch < slot.epoch || age < 0 || age >= GRANT_FRESH_MS
}

/** Finishes each, whatever becomes of the others; then throws the first error, if there was one. Answers the void ones. */
async function finishAll(coordinator: Coordinator, tickets: readonly Ticket[]): Promise<SlotHolder[]> {
  const outcomes = await Promise.allSettled(tickets.map((ticket) => finishGrant(coordinator, ticket)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  return tickets.filter((_, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'fulfilled' && outcome.value === 'void'
  })
}

/** The place that a review holds or held at its epoch. */
export function slotOf(review: Review): SlotHolder {
  return { reviewId: reviewIdOf(review), epoch: review.epoch }
}
