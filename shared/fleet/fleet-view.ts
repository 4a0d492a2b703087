/** The fleet as the API and the command line show it: limits with their reasons, slots, tickets, closed pools and halts. Pure. */

import { parseReviewId } from '../runs/review.ts'
import { type Effective, effectiveOf, effectiveOfPool, effectiveOfRepository, type FleetLimits } from './ceiling.ts'
import type { Slot, Ticket } from './schedule.ts'

export interface FleetView {
  readonly fleet: Effective & { readonly enabled: boolean; readonly held: number }
  /** The limit of any one repository. */
  readonly repository: Effective
  /** As stated by an operator; absent if unknown. */
  readonly accountQuota?: number
  readonly pools: readonly PoolView[]
  /** Slots, oldest first. */
  readonly slots: readonly SlotView[]
  /** Tickets, next first; `cut` if some are not listed. */
  readonly waiting: { readonly tickets: readonly TicketView[]; readonly cut: boolean }
  readonly halts: readonly HaltView[]
  /** Revision of the limits. */
  readonly revision: number
}

export interface PoolView extends Effective {
  readonly pool: string
  readonly held: number
  /** ISO 8601, UTC; absent while the pool is open. */
  readonly closedUntil?: string
}

/** A review by its parts, with its repository (GitHub's id). */
interface ReviewOf {
  readonly run: string
  readonly lens: string
  readonly part: number
  readonly repository: number
  readonly pool: string
}

export interface SlotView extends ReviewOf {
  /** ISO 8601, UTC. */
  readonly since: string
}

export interface TicketView extends ReviewOf {
  /** ISO 8601, UTC: the smallest goes first unless a limit decides. */
  readonly turn: string
}

export interface HaltView {
  readonly scope: string
  readonly by: string
  readonly why: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** The facts read for a view. */
export interface FleetFacts {
  readonly limits: FleetLimits
  readonly slots: Readonly<Record<string, Slot>>
  readonly waiting: { readonly tickets: readonly Ticket[]; readonly cut: boolean }
  /** Closed pools, with the end of the closing, ms UTC. */
  readonly closed: Readonly<Record<string, number>>
  readonly halts: readonly HaltFacts[]
}

interface HaltFacts {
  readonly scope: string
  readonly by: string
  readonly why: string
  /** ms UTC */
  readonly since: number
}

/** Pools listed always, also before their first review. */
const POOLS_ALWAYS = ['lambda', 'external']

export function fleetViewOf({ limits, slots, waiting, closed, halts }: FleetFacts): FleetView {
  const held = Object.values(slots)
  const pools = new Set([
    ...POOLS_ALWAYS,
    ...Object.keys(limits.pools ?? {}),
    ...Object.keys(closed),
    ...held.map(({ pool }) => pool),
    ...waiting.tickets.map(({ pool }) => pool),
  ])
  return {
    fleet: { ...effectiveOf(limits), enabled: limits.enabled, held: held.length },
    repository: effectiveOfRepository(limits),
    ...(limits.accountQuota === undefined ? {} : { accountQuota: limits.accountQuota }),
    pools: [...pools].sort().map((pool) => ({
      pool,
      ...effectiveOfPool(limits, pool),
      held: held.filter((slot) => slot.pool === pool).length,
      ...(closed[pool] === undefined ? {} : { closedUntil: isoOf(closed[pool]) }),
    })),
    slots: Object.entries(slots)
      .toSorted(([, a], [, b]) => a.since - b.since)
      .map(([reviewId, { repository, pool, since }]) => ({
        ...partsOf(reviewId),
        repository,
        pool,
        since: isoOf(since),
      })),
    waiting: {
      tickets: waiting.tickets
        .toSorted((a, b) => a.turn - b.turn)
        .map(({ reviewId, repository, pool, turn }) => ({
          ...partsOf(reviewId),
          repository,
          pool,
          turn: isoOf(turn),
        })),
      cut: waiting.cut,
    },
    halts: halts.map(haltViewOf),
    revision: limits.revision ?? 0,
  }
}

export function haltViewOf({ scope, by, why, since }: HaltFacts): HaltView {
  return { scope, by, why, since: isoOf(since) }
}

/** An unreadable id is shown unchanged: an operator needs to see it. */
function partsOf(reviewId: string): Pick<ReviewOf, 'run' | 'lens' | 'part'> {
  const { runId, lens, part } = parseReviewId(reviewId) ?? { runId: reviewId, lens: 'unknown', part: 0 }
  return { run: runId, lens, part }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
