/** Who gets the fleet's free places. Pure: the fleet as it is and who waits, in; grants, out (DESIGN §5). */
import { effectiveOf, type FleetLimits, LIMITS_DEFAULT } from './ceiling.ts'

/** A place that is taken. It has no clock: it is void when its review is done or at another epoch. */
export interface Slot {
  readonly epoch: number
  readonly repository: number
  readonly pool: string
  /** ms UTC, for people. */
  readonly since: number
}

export interface Fleet {
  readonly limits: FleetLimits
  /** By review id. */
  readonly slots: Readonly<Record<string, Slot>>
  readonly version: number
}

/** A review that waits. */
export interface Ticket {
  readonly reviewId: string
  readonly epoch: number
  readonly repository: number
  readonly pool: string
  /** Smallest first; ms UTC. */
  readonly turn: number
}

export const FLEET_AT_REST: Fleet = {
  limits: LIMITS_DEFAULT,
  slots: {},
  version: 0,
}

/**
 * The tickets that get a place now, in order of their turn; of several tickets of one review only that of the latest
 * epoch. Nothing while as many slots are held as effective allows.
 */
export function schedule(fleet: Fleet, waiting: readonly Ticket[]): Ticket[] {
  const free = effectiveOf(fleet.limits).effective - Object.keys(fleet.slots).length
  if (free <= 0) return []
  const latest = new Map<string, Ticket>()
  for (const ticket of waiting) {
    if ((latest.get(ticket.reviewId)?.epoch ?? 0) < ticket.epoch) latest.set(ticket.reviewId, ticket)
  }
  return [...latest.values()]
    .filter((ticket) => fleet.slots[ticket.reviewId] === undefined)
    .toSorted(byTurn)
    .slice(0, free)
}

/** The fleet after these grants and without that slot. A slot of a later epoch than `release` names is left alone. */
export function afterHandOver(
  fleet: Fleet,
  change: {
    readonly release?: { readonly reviewId: string; readonly epoch: number }
    readonly grants: readonly Ticket[]
    readonly now: number
  },
): Fleet {
  const slots: Record<string, Slot> = { ...fleet.slots }
  const { release } = change
  const slot = release && slots[release.reviewId]
  if (slot && slot.epoch <= release.epoch) delete slots[release.reviewId]
  for (const { reviewId, epoch, repository, pool } of change.grants) {
    slots[reviewId] = { epoch, repository, pool, since: change.now }
  }
  return { ...fleet, slots }
}

function byTurn(a: Ticket, b: Ticket): number {
  return a.turn - b.turn || (a.reviewId < b.reviewId ? -1 : a.reviewId > b.reviewId ? 1 : 0)
}
