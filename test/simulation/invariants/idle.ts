/** I1, second half: no slot idles for longer than a sweep takes while an allowed ticket waits. */
import type { Judge } from './broken.ts'
import { effectiveFleet, effectivePool, effectiveRepository, held } from './effective.ts'
import type { Invariant } from './invariant.ts'
import {
  type Change,
  FLEET,
  type FleetItem,
  HALTS,
  type HaltsItem,
  isHalted,
  type ReviewItem,
  reviewKey,
  type TicketItem,
} from './items.ts'
import { boundsOf, type View } from './view.ts'

export function idleInvariant(view: View, judge: Judge): Invariant {
  const { idleMs } = boundsOf(view)
  const tickets = new Map<string, TicketItem>()
  /**
   * For each ticket, the time since when a grant was allowed, ms UTC; in the future while the pool is closed until a
   * time.
   */
  const allowedSince = new Map<string, number>()
  let earliest = Number.POSITIVE_INFINITY
  let stale = false

  function changed(): void {
    stale = true
  }

  /**
   * Runs only after a change of fleet, halts or tickets: between two changes no ticket becomes allowed or forbidden.
   */
  function look(): void {
    stale = false
    const fleet = view.table.item(FLEET) as unknown as FleetItem | undefined
    const halts = view.table.item(HALTS) as unknown as HaltsItem | undefined
    earliest = Number.POSITIVE_INFINITY
    for (const [id, ticket] of tickets) {
      const from = fleet && allowedFrom(fleet, halts, ticket)
      if (from === undefined) {
        allowedSince.delete(id)
        continue
      }
      const since = Math.max(allowedSince.get(id) ?? view.now(), from)
      allowedSince.set(id, since)
      earliest = Math.min(earliest, since)
    }
  }

  /** The time from which a grant of the ticket is allowed, ms UTC; undefined if no passage of time allows a grant. */
  function allowedFrom(fleet: FleetItem, halts: HaltsItem | undefined, ticket: TicketItem): number | undefined {
    const { reviewId, epoch, repository, pool, installation } = ticket
    const review = view.table.item(reviewKey(reviewId)) as unknown as ReviewItem | undefined
    if (review?.epoch !== epoch || review.state !== 'waiting' || fleet.slots[reviewId] !== undefined) return undefined
    const { limits } = fleet
    if (held(fleet) >= effectiveFleet(limits) || held(fleet, { pool }) >= effectivePool(limits, pool)) return undefined
    if (held(fleet, { repository }) >= effectiveRepository(limits)) return undefined
    if (isHalted(halts, { id: repository, installationId: installation })) return undefined
    const { until, probe } = fleet.closed[pool] ?? { until: 0 }
    const isProbing = probe !== undefined && fleet.slots[probe.reviewId]?.epoch === probe.epoch
    return isProbing ? undefined : until
  }

  return {
    watch: {
      fleet: changed,
      halts: changed,
      review: changed,
      ticket({ key, after }: Change<TicketItem>) {
        const id = `${key.pk} ${key.sk}`
        judge.looked()
        if (after) tickets.set(id, after)
        else {
          tickets.delete(id)
          allowedSince.delete(id)
        }
        changed()
      },
    },
    afterStep() {
      if (tickets.size === 0) return
      if (stale) look()
      judge.holds(
        view.now() - earliest <= idleMs,
        'A place stayed free while somebody waited who may have it.',
        () => ({
          waiting: [...allowedSince].map(([id, since]) => ({ id, since })),
          fleet: view.table.item(FLEET),
        }),
      )
    },
  }
}
