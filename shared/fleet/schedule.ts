/** The grants of the fleet's free slots. Pure: the fleet and the waiting tickets in, grants out. */
import * as z from 'zod'
import { POOLS_LIMITED_MAX, TURN_ASKED_MS } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import type { Run } from '../runs/run.ts'
import { effectiveOf, effectiveOfPool, effectiveOfRepository, fleetLimitsSchema, LIMITS_DEFAULT } from './ceiling.ts'

/** A taken slot. A slot has no clock: it is void once its review is done or at another epoch. */
const slotSchema = z.object({
  epoch: z.number(),
  repository: z.number(),
  pool: z.string(),
  /** ms UTC by the granting process: for people, and to leave a fresh grant to its writer. */
  since: z.number(),
  /** Nonce of the grant's writer. */
  by: z.string().exactOptional(),
})
export type Slot = Stored<typeof slotSchema>

/** A review's slot, at one epoch. */
const slotHolderSchema = z.object({ reviewId: z.string(), epoch: z.number() })
export type SlotHolder = Stored<typeof slotHolderSchema>

/** A pool whose model asked for patience. */
const closingSchema = z.object({
  /** The times of the closing, ms UTC: nothing is granted in the pool until `until`. */
  since: z.number(),
  until: z.number(),
  /** The review that tries the pool again after `until`; valid while the review holds its slot. */
  probe: slotHolderSchema.exactOptional(),
})
export type Closing = Stored<typeof closingSchema>

export const fleetSchema = z.object({
  limits: fleetLimitsSchema,
  /** By review id. */
  slots: z.record(z.string(), slotSchema),
  /** By pool; a pool without a closing is open. */
  closed: z.record(z.string(), closingSchema),
  /** The number of grants ever made. */
  granted: z.number(),
  /** Version of limits and closings; 0 for an unwritten fleet. Grants and releases don't raise it. */
  version: z.number(),
})
export type Fleet = Stored<typeof fleetSchema>

/** A waiting review. */
export const ticketSchema = slotHolderSchema.extend({
  repository: z.number(),
  installation: z.number(),
  pool: z.string(),
  /** Smallest first; ms UTC. */
  turn: z.number(),
})
export type Ticket = Stored<typeof ticketSchema>

export const FLEET_AT_REST: Fleet = { limits: LIMITS_DEFAULT, slots: {}, closed: {}, granted: 0, version: 0 }

/** The turn of a run's reviews, ms UTC: requests by a person go before other work accepted at the same time. */
export function turnOf(run: Pick<Run, 'acceptedAt' | 'cause' | 'askedBy'>): number {
  const asked = run.askedBy === 'person' || run.cause.startsWith('comment:')
  return run.acceptedAt - (asked ? TURN_ASKED_MS : 0)
}

/**
 * The tickets granted now, in order of their turn; of one review, only the ticket of the latest epoch. No grant beyond the
 * effective ceilings of fleet, repository and pool; in a closed pool, only one probe after its time.
 */
export function schedule(fleet: Fleet, waiting: readonly Ticket[], now: number): Ticket[] {
  const latest = new Map<string, Ticket>()
  for (const ticket of waiting) {
    if ((latest.get(ticket.reviewId)?.epoch ?? 0) < ticket.epoch) latest.set(ticket.reviewId, ticket)
  }
  const grants: Ticket[] = []
  let after = fleet
  for (const ticket of [...latest.values()].toSorted(byTurn)) {
    if (freeSlots(after) <= 0) break
    if (after.slots[ticket.reviewId] !== undefined || !isAllowed(after, ticket, now)) continue
    grants.push(ticket)
    after = withGrants(after, [ticket], now)
  }
  return grants
}

/** Slots free to grant; below 0 while a lowered ceiling drains. */
export function freeSlots(fleet: Fleet): number {
  return effectiveOf(fleet.limits).effective - Object.keys(fleet.slots).length
}

/** True if the fleet's rules allow the repository a slot in the pool now, whether a slot is free or not. */
export function isAllowed(fleet: Fleet, work: Pick<Ticket, 'repository' | 'pool'>, now: number): boolean {
  const held = Object.values(fleet.slots)
  const ofRepository = held.filter(({ repository }) => repository === work.repository).length
  const inPool = held.filter(({ pool }) => pool === work.pool).length
  if (ofRepository >= effectiveOfRepository(fleet.limits).effective) return false
  if (inPool >= effectiveOfPool(fleet.limits, work.pool).effective) return false
  const closing = fleet.closed[work.pool]
  return closing === undefined || (closing.until <= now && !isProbing(fleet, closing))
}

/** True if more than the fleet's ceiling bounds the grants: then grants made meanwhile count, not only the held slots. */
export function isCounted({ limits }: Fleet, grants: readonly Pick<Ticket, 'pool'>[]): boolean {
  const { effective } = effectiveOf(limits)
  return (
    effectiveOfRepository(limits).effective < effective ||
    grants.some(({ pool }) => effectiveOfPool(limits, pool).effective < effective)
  )
}

/** The fleet with these slots; in a closed pool the grant is its probe. */
export function withGrants(fleet: Fleet, grants: readonly Ticket[], now: number): Fleet {
  if (grants.length === 0) return fleet
  const slots: Record<string, Slot> = { ...fleet.slots }
  let { closed } = fleet
  for (const { reviewId, epoch, repository, pool } of grants) {
    slots[reviewId] = { epoch, repository, pool, since: now }
    const closing = closed[pool]
    if (closing) closed = { ...closed, [pool]: { ...closing, probe: { reviewId, epoch } } }
  }
  return { ...fleet, slots, closed, granted: fleet.granted + grants.length }
}

/** The fleet without these slots; the very same object if it holds none. A slot of a later epoch is left alone. */
export function withoutSlots(fleet: Fleet, holders: readonly SlotHolder[]): Fleet {
  const held = holders.filter(
    ({ reviewId, epoch }) => (fleet.slots[reviewId]?.epoch ?? Number.POSITIVE_INFINITY) <= epoch,
  )
  if (held.length === 0) return fleet
  const slots: Record<string, Slot> = { ...fleet.slots }
  for (const { reviewId } of held) delete slots[reviewId]
  return { ...fleet, slots }
}

/**
 * The fleet with the pool of the holder's slot closed until `until`, or for longer if closed longer already; the very same
 * object if the slot is not held at this epoch: a replaced worker says nothing about a pool (I8).
 */
export function closedBy(fleet: Fleet, holder: SlotHolder, closing: { until: number; now: number }): Fleet {
  const slot = fleet.slots[holder.reviewId]
  if (slot?.epoch !== holder.epoch) return fleet
  const before = fleet.closed[slot.pool]
  const otherProbe = before?.probe && before.probe.reviewId !== holder.reviewId ? { probe: before.probe } : {}
  const after: Closing = {
    since: before?.since ?? closing.now,
    until: Math.max(before?.until ?? 0, closing.until),
    ...otherProbe,
  }
  const { [slot.pool]: _before, ...otherPools } = fleet.closed
  // The fleet item stays small: the pool with the earliest end is forgotten first, and closed again by the next
  // throttled review.
  const kept = Object.entries(otherPools)
    .toSorted(([, a], [, b]) => b.until - a.until)
    .slice(0, POOLS_LIMITED_MAX - 1)
  return { ...fleet, closed: { ...Object.fromEntries(kept), [slot.pool]: after } }
}

/** The fleet with the pool of the holder's slot open, if the holder is its probe; else the very same object. */
export function openedBy(fleet: Fleet, holder: SlotHolder): Fleet {
  const slot = fleet.slots[holder.reviewId]
  const probe = slot && fleet.closed[slot.pool]?.probe
  if (slot?.epoch !== holder.epoch || probe?.reviewId !== holder.reviewId || probe.epoch !== holder.epoch) return fleet
  const { [slot.pool]: _opened, ...closed } = fleet.closed
  return { ...fleet, closed }
}

/** The fleet without past closings of pools without slot or ticket (`waitedFor` has tickets); else the very same object. */
export function withoutIdle(fleet: Fleet, waitedFor: readonly string[], now: number): Fleet {
  const wanted = new Set([...waitedFor, ...Object.values(fleet.slots).map(({ pool }) => pool)])
  const kept = Object.entries(fleet.closed).filter(([pool, { until }]) => until > now || wanted.has(pool))
  return kept.length === Object.keys(fleet.closed).length ? fleet : { ...fleet, closed: Object.fromEntries(kept) }
}

function isProbing(fleet: Fleet, { probe }: Closing): boolean {
  return probe !== undefined && fleet.slots[probe.reviewId]?.epoch === probe.epoch
}

function byTurn(a: Ticket, b: Ticket): number {
  return a.turn - b.turn || (a.reviewId < b.reviewId ? -1 : a.reviewId > b.reviewId ? 1 : 0)
}
