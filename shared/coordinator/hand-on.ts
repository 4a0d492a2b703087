/** Handing the fleet's places on: what is released goes to who waits, in the same write (DESIGN §5). */
import { answerToken } from '../aws/executions.ts'
import { effectiveOf } from '../ceiling.ts'
import { dropQueue, dropTicket, queueTicket, readFleet, readQueues, readTickets, writeFleet } from '../ledger/fleet.ts'
import { dropToken, grantReview, ticketOf } from '../ledger/review.ts'
import { contended } from '../ledger/table.ts'
import { CONFLICT_TRIES_MAX, FLEET_SLOTS_MAX } from '../limits.ts'
import { parseReviewId, type Review, reviewIdOf } from '../review.ts'
import { afterHandOver, type Fleet, schedule, type Ticket } from '../schedule.ts'
import type { Coordinator } from './coordinator.ts'

/** A place to give up: the slot of this review at this epoch, or at an earlier one, which is void then. */
export interface Release {
  readonly reviewId: string
  readonly epoch: number
}

/** Tickets read from one queue at least; as many as places are free if that is more, so that the order of turns holds. */
const TICKETS_READ_MIN = 20
/** Rounds of one hand-over: each one that isn't the last has finished a ticket, so the fleet's size bounds it. */
const ROUNDS_MAX = FLEET_SLOTS_MAX + CONFLICT_TRIES_MAX

/**
 * Gives `releases` up, if they are still held, and grants what may be granted, until nothing is allowed any more. After
 * every write that left a place free the queues are read again, so no ticket that came meanwhile is left waiting (IL8,
 * IL13). A grant of one of `known` that nobody finished is finished here, also while the fleet is full (IL7).
 */
export async function handOn(
  coordinator: Coordinator,
  releases: readonly Release[] = [],
  known: readonly Ticket[] = [],
): Promise<void> {
  let owed = releases
  let tickets = known
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { finished, voids } = await contended(() => handOverOnce(coordinator, owed, tickets))
    if (finished === 0 && owed.length === 0) return
    owed = voids
    tickets = []
  }
}

/** Grants a waiting review its place at once, or puts it into its queue and grants what may be granted. Repeatable. */
export async function enqueue(coordinator: Coordinator, review: Review): Promise<void> {
  const ticket = ticketOf(review)
  if (await grantAtOnce(coordinator, ticket)) return
  await queueTicket(coordinator.ledger, ticket, coordinator.nonce())
  await handOn(coordinator, [], [ticket])
}

/**
 * Where a place is free and nobody waits, no ticket is written: that saves four of a review's ten writes. False if that
 * isn't so, or if someone wrote the fleet meanwhile. A grant that is not finished is found by its review, which is due.
 */
async function grantAtOnce(coordinator: Coordinator, ticket: Ticket): Promise<boolean> {
  const { ledger, now, nonce } = coordinator
  const before = await readFleet(ledger)
  const grants = schedule(before, [ticket])
  if (grants.length === 0 || (await readQueues(ledger)).length > 0) return false
  if (!(await writeFleet(ledger, before, afterHandOver(before, { grants, now: now() }), nonce(), now()))) return false
  if ((await tellGrant(coordinator, ticket)) === 'void') await handOn(coordinator, [ticket])
  return true
}

/** Completes a grant whose fleet write is done: the review, the answer, the ticket. Repeatable by anyone (IL7). */
export async function finishGrant(coordinator: Coordinator, ticket: Ticket): Promise<'granted' | 'void'> {
  const outcome = await tellGrant(coordinator, ticket)
  await dropTicket(coordinator.ledger, ticket)
  return outcome
}

async function tellGrant(coordinator: Coordinator, ticket: Ticket): Promise<'granted' | 'void'> {
  const name = parseReviewId(ticket.reviewId)
  const review = name && (await grantReview(coordinator.ledger, { name, epoch: ticket.epoch }, coordinator.now()))
  if (!review) return 'void'
  await answerGrant(coordinator, review)
  return 'granted'
}

/** Tells the waiting task that its review has a place. A dead answer proves nothing about the review: only the token goes. */
export async function answerGrant(coordinator: Coordinator, review: Review): Promise<void> {
  if (review.token === undefined) return
  const answer = await answerToken(coordinator.executions, review.token, { outcome: 'granted', epoch: review.epoch })
  if (answer === 'dead') await dropToken(coordinator.ledger, review, review.token)
}

/** What one hand-over did: tickets that are gone now, and places that turned out to be given to nobody. */
interface HandedOver {
  readonly finished: number
  readonly voids: readonly Release[]
}

async function handOverOnce(
  coordinator: Coordinator,
  releases: readonly Release[],
  known: readonly Ticket[],
): Promise<HandedOver | 'again'> {
  const { ledger, now, nonce } = coordinator
  const before = await readFleet(ledger)
  const released = without(before, releases)
  const full = freePlaces(released) <= 0
  const waiting = full && released === before ? known : [...known, ...(await readWaiting(coordinator, released))]

  // A ticket of a later epoch than its review's slot: the review was taken back since, so that slot is void.
  const freed = without(
    released,
    waiting.map(({ reviewId, epoch }) => ({ reviewId, epoch: epoch - 1 })),
  )
  // Any other ticket of a review with a slot: a grant that someone did not finish, or one that is void.
  const met = waiting.filter(({ reviewId }) => freed.slots[reviewId] !== undefined)
  const grants = schedule(freed, waiting)
  if (freed !== before || grants.length > 0) {
    const next = afterHandOver(freed, { grants, now: now() })
    if (!(await writeFleet(ledger, before, next, nonce(), now()))) return 'again'
  }
  return finishAll(coordinator, [...met, ...grants])
}

/** Finishes each, whatever becomes of the others; then throws the first error, if there was one. */
async function finishAll(coordinator: Coordinator, tickets: readonly Ticket[]): Promise<HandedOver> {
  const outcomes = await Promise.allSettled(tickets.map((ticket) => finishGrant(coordinator, ticket)))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
  const voids = tickets.filter((_, index) => {
    const outcome = outcomes[index]
    return outcome?.status === 'fulfilled' && outcome.value === 'void'
  })
  return { finished: tickets.length, voids }
}

/** The fleet without those slots; the very same object if it holds none of them. */
function without(fleet: Fleet, releases: readonly Release[]): Fleet {
  const held = releases.filter(({ reviewId, epoch }) => (fleet.slots[reviewId]?.epoch ?? Infinity) <= epoch)
  return held.reduce((rest, release) => afterHandOver(rest, { release, grants: [], now: 0 }), fleet)
}

function freePlaces(fleet: Fleet): number {
  return effectiveOf(fleet.limits).effective - Object.keys(fleet.slots).length
}

async function readWaiting(coordinator: Coordinator, fleet: Fleet): Promise<Ticket[]> {
  const { ledger } = coordinator
  const limit = Math.max(TICKETS_READ_MIN, freePlaces(fleet))
  const queues = await readQueues(ledger)
  const lists = await Promise.all(
    queues.map(async (queue) => {
      const tickets = await readTickets(ledger, queue, limit)
      if (tickets.length === 0) await dropQueue(ledger, queue)
      return tickets
    }),
  )
  return lists.flat()
}

/** The slot that a review holds or held at its epoch. */
export function slotOf(review: Review): Release {
  return { reviewId: reviewIdOf(review), epoch: review.epoch }
}
