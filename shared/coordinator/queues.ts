/** The queues allowed a slot by the fleet's rules and the halts, and their first tickets. */
import { sha256 } from '../base/digest.ts'
import { QUEUES_LOOKED_INTO_MAX, TICKETS_READ_MIN } from '../base/limits.ts'
import { type Fleet, freeSlots, isAllowed, type Ticket } from '../fleet/schedule.ts'
import { dropQueue, type Queue, readQueues, readTickets } from '../ledger/fleet.ts'
import { type Halts, haltOn, standingHalts } from '../ledger/halt.ts'
import type { Ledger } from '../ledger/table.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * The first tickets of the open queues, with or without a slot; markers of empty queues are deleted. Queues are read in batches
 * until a ticket without a slot is met. The first queue changes from call to call, and no queue is left out for ever. Nothing
 * is granted to a halted repository.
 */
export async function waitingTickets(coordinator: Coordinator, fleet: Fleet): Promise<Ticket[]> {
  const { ledger, nonce } = coordinator
  const queues = await openQueues(coordinator, fleet)
  const first = queues.length > QUEUES_LOOKED_INTO_MAX ? indexOf(nonce(), queues.length) : 0
  const rotated = [...queues.slice(first), ...queues.slice(0, first)]
  const tickets: Ticket[] = []
  for (let index = 0; index < rotated.length; index += QUEUES_LOOKED_INTO_MAX) {
    const batch = rotated.slice(index, index + QUEUES_LOOKED_INTO_MAX)
    const lists = await Promise.all(batch.map((queue) => ticketsIn(ledger, fleet, queue)))
    tickets.push(...lists.flat())
    if (tickets.some(({ reviewId }) => fleet.slots[reviewId] === undefined)) break
  }
  return tickets
}

/** Queues with a marker, whose repository and pool are allowed a slot now. */
export async function openQueues({ ledger, now }: Coordinator, fleet: Fleet): Promise<Queue[]> {
  const [queues, halts] = await Promise.all([readQueues(ledger), standingHalts(ledger)])
  return queues.filter((queue) => isAllowed(fleet, queue, now()) && !isHalted(halts, queue))
}

export function isHalted(halts: Halts, { repository, installation }: Pick<Ticket, 'repository' | 'installation'>) {
  return haltOn(halts, { id: repository, installationId: installation }) !== undefined
}

async function ticketsIn(ledger: Ledger, fleet: Fleet, queue: Queue): Promise<Ticket[]> {
  const tickets = await readTickets(ledger, queue, ticketsToRead(fleet, queue))
  if (tickets.length === 0) await dropQueue(ledger, queue)
  return tickets
}

/** As many tickets as may be granted, plus the tickets with a slot: these must not hide the tickets behind them. */
function ticketsToRead(fleet: Fleet, queue: Queue): number {
  const held = Object.values(fleet.slots).filter(
    ({ repository, pool }) => repository === queue.repository && pool === queue.pool,
  )
  return Math.max(TICKETS_READ_MIN, freeSlots(fleet) + held.length)
}

/** An index below `size`, as evenly spread as the nonces. */
function indexOf(nonce: string, size: number): number {
  return Number.parseInt(sha256(nonce).slice(0, 8), 16) % size
}
