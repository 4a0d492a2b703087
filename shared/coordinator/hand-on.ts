/** Handing the fleet's places on: what is released goes to who waits, in the same write (DESIGN §5). */
import { answerToken } from '../aws/executions.ts'
import { dropQueue, dropTicket, queueTicket, readFleet, readQueues, readTickets, writeFleet } from '../ledger/fleet.ts'
import { dropToken, grantReview, ticketOf } from '../ledger/review.ts'
import { contended } from '../ledger/table.ts'
import { CONFLICT_TRIES_MAX, FLEET_SLOTS_MAX } from '../limits.ts'
import { parseReviewId, type Review, reviewIdOf } from '../review.ts'
import { afterHandOver, effectiveOf, schedule, type Ticket } from '../schedule.ts'
import type { Coordinator } from './coordinator.ts'

/** A place to give up: the slot of this review at this epoch, or at an earlier one, which is void then. */
export interface Release {
  readonly reviewId: string
  readonly epoch: number
}

/** Tickets read from one queue at once, so that a hand-over stays small; the loop comes again while any is granted. */
const TICKETS_READ_MAX = 20
/** Rounds of one hand-over: each one that isn't the last has granted something, so the fleet's size bounds it. */
const ROUNDS_MAX = FLEET_SLOTS_MAX + CONFLICT_TRIES_MAX

/**
 * Gives `releases` up, if they are still held, and grants what may be granted, until nothing is allowed any more. After
 * every write that left a place free the queues are read again, so no ticket that came meanwhile is left waiting (IL8, IL13).
 */
export async function handOn(coordinator: Coordinator, releases: readonly Release[] = []): Promise<void> {
  let owed = releases
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const granted = await contended(() => handOverOnce(coordinator, owed))
    if (granted === 0 && owed.length === 0) return
    owed = []
  }
}

/** Puts a waiting review into its queue, then grants what may be granted. Repeatable. */
export async function enqueue(coordinator: Coordinator, review: Review): Promise<void> {
  await queueTicket(coordinator.ledger, ticketOf(review), coordinator.nonce())
  await handOn(coordinator)
}

/** Completes a grant whose fleet write is done: the review, the answer, the ticket. Repeatable by anyone (IL7). */
export async function finishGrant(coordinator: Coordinator, ticket: Ticket): Promise<'granted' | 'void'> {
  const { ledger, now } = coordinator
  const name = parseReviewId(ticket.reviewId)
  const review = name && (await grantReview(ledger, { name, epoch: ticket.epoch }, now()))
  if (review) await answerGrant(coordinator, review)
  await dropTicket(ledger, ticket)
  return review ? 'granted' : 'void'
}

/** Tells the waiting task that its review has a place. A dead answer proves nothing about the review: only the token goes. */
export async function answerGrant(coordinator: Coordinator, review: Review): Promise<void> {
  if (review.token === undefined) return
  const answer = await answerToken(coordinator.executions, review.token, { outcome: 'granted', epoch: review.epoch })
  if (answer === 'dead') await dropToken(coordinator.ledger, review, review.token)
}

async function handOverOnce(coordinator: Coordinator, releases: readonly Release[]): Promise<number | 'again'> {
  const { ledger, now, nonce } = coordinator
  const before = await readFleet(ledger)
  const held = releases.filter(
    ({ reviewId, epoch }) => (before.slots[reviewId]?.epoch ?? Number.POSITIVE_INFINITY) <= epoch,
  )
  const freed = held.reduce((fleet, release) => afterHandOver(fleet, { release, grants: [], now: now() }), before)
  const full = Object.keys(freed.slots).length >= effectiveOf(freed.limits).effective
  const waiting = full && held.length === 0 ? [] : await readWaiting(coordinator)

  // A ticket whose review has the slot of its epoch: a grant that someone did not finish.
  const unfinished = waiting.filter(({ reviewId, epoch }) => freed.slots[reviewId]?.epoch === epoch)
  const grants = schedule(freed, waiting)
  if (held.length > 0 || grants.length > 0) {
    const next = afterHandOver(freed, { grants, now: now() })
    if (!(await writeFleet(ledger, before, next, nonce(), now()))) return 'again'
  }
  const finished = await Promise.all([...unfinished, ...grants].map((ticket) => finishAndCount(coordinator, ticket)))
  const voids = finished.flatMap((result) => (result.outcome === 'void' ? [result.release] : []))
  if (voids.length > 0) await handOverOnce(coordinator, voids)
  return grants.length + voids.length
}

async function finishAndCount(coordinator: Coordinator, ticket: Ticket) {
  const outcome = await finishGrant(coordinator, ticket)
  return { outcome, release: { reviewId: ticket.reviewId, epoch: ticket.epoch } }
}

async function readWaiting(coordinator: Coordinator): Promise<Ticket[]> {
  const { ledger } = coordinator
  const queues = await readQueues(ledger)
  const lists = await Promise.all(
    queues.map(async (queue) => {
      const tickets = await readTickets(ledger, queue, TICKETS_READ_MAX)
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
