/** Who gets the fleet's free places. Pure: the fleet as it is and who waits, in; grants, out (DESIGN §5). */
import * as z from 'zod'
import { POOLS_LIMITED_MAX, TURN_ASKED_MS, TURN_SHADOW_MS } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import type { Run } from '../runs/run.ts'
import { effectiveOf, effectiveOfPool, effectiveOfRepository, fleetLimitsSchema, LIMITS_DEFAULT } from './ceiling.ts'

/** A place that is taken. It has no clock: it is void when its review is done or at another epoch. */
const slotSchema = z.object({
  epoch: z.number(),
  repository: z.number(),
  pool: z.string(),
  /** ms UTC of who granted it: for people, and to leave a grant to who is finishing it. */
  since: z.number(),
  /** Nonce of who granted it. */
  by: z.string().exactOptional(),
})
export type Slot = Stored<typeof slotSchema>

/** A review's place, at one epoch. */
const slotHolderSchema = z.object({ reviewId: z.string(), epoch: z.number() })
export type SlotHolder = Stored<typeof slotHolderSchema>

/** A pool whose model asked for patience. */
const closingSchema = z.object({
  /** ms UTC: since when it is closed, and until when nothing is granted in it. */
  since: z.number(),
  until: z.number(),
  /** The one review that tries it again after `until`; it counts while it holds its slot. */
  probe: slotHolderSchema.exactOptional(),
})
export type Closing = Stored<typeof closingSchema>

export const fleetSchema = z.object({
  limits: fleetLimitsSchema,
  /** By review id. */
  slots: z.record(z.string(), slotSchema),
  /** By pool; a pool that isn't named is open. */
  closed: z.record(z.string(), closingSchema),
  /** How many grants there ever were. */
  granted: z.number(),
  /** Of limits and closings; 0 for a fleet that was never written. Grants and releases don't raise it. */
  version: z.number(),
})
export type Fleet = Stored<typeof fleetSchema>

/** A review that waits. */
export const ticketSchema = slotHolderSchema.extend({
  repository: z.number(),
  installation: z.number(),
  pool: z.string(),
  /** Smallest first; ms UTC. */
  turn: z.number(),
})
export type Ticket = Stored<typeof ticketSchema>

export const FLEET_AT_REST: Fleet = { limits: LIMITS_DEFAULT, slots: {}, closed: {}, granted: 0, version: 0 }

/** Causes of a run that someone asked for by name, and not by a push or an edit. */
const ASKED = ['comment:', 'rerun:', 'api:']

/** The turn of a run's reviews, ms UTC: who asked goes before, and shadow work behind, what was accepted at the same time. */
export function turnOf(run: Pick<Run, 'acceptedAt' | 'cause' | 'askedBy'>, shadow = false): number {
  const asked = run.askedBy === 'person' || ASKED.some((prefix) => run.cause.startsWith(prefix))
  return run.acceptedAt - (asked ? TURN_ASKED_MS : 0) + (shadow ? TURN_SHADOW_MS : 0)
}

/**
 * The tickets that get a place now, in order of their turn; of several tickets of one review only that of the latest
 * epoch. Nothing while as many slots are held as effective allows, nothing for a repository or in a pool that has what it
 * may have, and in a closed pool nothing but one probe when its time has come.
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

/** Places that may be given; below 0 while a lowered ceiling drains. */
export function freeSlots(fleet: Fleet): number {
  return effectiveOf(fleet.limits).effective - Object.keys(fleet.slots).length
}

/** Whether the fleet's rules let this repository work in this pool now, be a place free or not. */
export function isAllowed(fleet: Fleet, work: Pick<Ticket, 'repository' | 'pool'>, now: number): boolean {
  const held = Object.values(fleet.slots)
  const ofRepository = held.filter(({ repository }) => repository === work.repository).length
  const inPool = held.filter(({ pool }) => pool === work.pool).length
  if (ofRepository >= effectiveOfRepository(fleet.limits).effective) return false
  if (inPool >= effectiveOfPool(fleet.limits, work.pool).effective) return false
  const closing = fleet.closed[work.pool]
  return closing === undefined || (closing.until <= now && !isProbing(fleet, closing))
}

/**
 * True if these grants are bounded by more than the fleet's own ceiling: then how many others were granted meanwhile
 * matters, and not only how many slots are held.
 */
export function isCounted({ limits }: Fleet, grants: readonly Pick<Ticket, 'pool'>[]): boolean {
  const { effective } = effectiveOf(limits)
  return (
    effectiveOfRepository(limits).effective < effective ||
    grants.some(({ pool }) => effectiveOfPool(limits, pool).effective < effective)
  )
}

/** The fleet with these slots; in a closed pool it is a probe that is granted. */
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

/** The fleet without these slots; the very same object if it holds none of them. A slot of a later epoch is left alone. */
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
 * The fleet with the pool of this place closed until then, or for longer if it is already; the very same object if the
 * place isn't held at this epoch: a worker that was replaced says nothing about a pool (I8).
 */
export function closedBy(fleet: Fleet, holder: SlotHolder, closing: { until: number; now: number }): Fleet {
  const slot = fleet.slots[holder.reviewId]
  if (slot?.epoch !== holder.epoch) return fleet
  const before = fleet.closed[slot.pool]
  const other = before?.probe && before.probe.reviewId !== holder.reviewId ? { probe: before.probe } : {}
  const after: Closing = {
    since: before?.since ?? closing.now,
    until: Math.max(before?.until ?? 0, closing.until),
    ...other,
  }
  const { [slot.pool]: _before, ...others } = fleet.closed
  // The fleet item stays small: what opens first is forgotten first, and closed again by who meets it.
  const kept = Object.entries(others)
    .toSorted(([, a], [, b]) => b.until - a.until)
    .slice(0, POOLS_LIMITED_MAX - 1)
  return { ...fleet, closed: { ...Object.fromEntries(kept), [slot.pool]: after } }
}

/** The fleet with the pool of this place open, if the place is its probe; else the very same object. */
export function openedBy(fleet: Fleet, holder: SlotHolder): Fleet {
  const slot = fleet.slots[holder.reviewId]
  const probe = slot && fleet.closed[slot.pool]?.probe
  if (slot?.epoch !== holder.epoch || probe?.reviewId !== holder.reviewId || probe.epoch !== holder.epoch) return fleet
  const { [slot.pool]: _opened, ...closed } = fleet.closed
  return { ...fleet, closed }
}

/** The fleet with those pools open whose time has come, and in which nobody works or, by `waitedFor`, waits; else the very same object. */
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
