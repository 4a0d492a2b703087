/** A small fleet: the real code admits, grants, reads and sweeps reviews, and a machine calls the code. */
import { admitReview } from '../../functions/admit/admit-review.ts'
import { setLimits } from '../../functions/api/fleet.ts'
import { nextDueAt } from '../../functions/sweep/core/sweep.ts'
import { takeUp } from '../../functions/sweep/take-up.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { tellDone } from '../../shared/coordinator/end-review.ts'
import { closePool, enqueue, grantSlots, openPool, slotOf } from '../../shared/coordinator/grant-slots.ts'
import type { LostWorker } from '../../shared/fleet/lease.ts'
import { postponeDue, readDue } from '../../shared/ledger/due.ts'
import { completeReview, leaseReview, releaseReview } from '../../shared/ledger/review.ts'
import { type Key, keyOf } from '../../shared/ledger/table.ts'
import type { Review } from '../../shared/runs/review.ts'
import type { Repository } from '../../shared/runs/run.ts'
import { runOf, wantedReview } from '../shared/samples.ts'
import { coordinatorOf } from './ports.ts'
import type { Code } from './program.ts'

/** A review of the model: its repository, its pool, and whether its model is throttled the first time. */
export interface Planned {
  readonly repository?: number
  readonly pool?: string
  readonly throttled?: boolean
}

/** The wait that a throttled model asks for, ms. */
export const THROTTLED_MS = 300_000
export const BEGIN = Date.UTC(2026, 0, 5, 9)

export const tokenOf = (review: number, turn: number): string => `${review}.${turn}`
export const REVIEW_NUMBERS = [0, 1, 2, 3]
const names = REVIEW_NUMBERS.map((review) => wantedReview(review))

export function nameOf(review: number) {
  const name = names[review]
  if (!name) throw new Error(`Expected one of ${names.length} reviews, got ${review}`)
  return name
}
export const runItem = () => ({ ...keyOf.run(nameOf(0).runId), ...runOf({ runId: nameOf(0).runId, state: 'running' }) })

function repositoryOf({ repository = 7 }: Planned): Repository {
  return { id: repository, owner: 'acme', name: `r${repository}`, installationId: 70 }
}

/**
 * The function Admit for a review with `position` reviews before its turn. `lost` is Lambda's message about the last
 * crashed worker.
 */
export const admit =
  (planned: Planned, review: number, turn: number, position: number, lost: LostWorker | undefined): Code =>
  async (ports) => {
    const wanted = {
      ...nameOf(review),
      repository: repositoryOf(planned),
      pool: planned.pool ?? 'lambda',
      turn: BEGIN + position,
      token: tokenOf(review, turn),
    }
    await admitReview(coordinatorOf(ports), wanted, lost)
    return 'admitted'
  }

/**
 * The function Review, called as in functions/review/handler.ts; its lens takes no time, or meets a throttled model.
 */
export const work =
  (planned: Planned, review: number, epoch: number, owner: string): Code =>
  async (ports) => {
    const coordinator = coordinatorOf(ports)
    const { ledger } = coordinator
    const leased = await leaseReview(ledger, nameOf(review), { epoch, owner, now: ports.now() })
    if (leased.kind !== 'leased') return leased.kind
    if (planned.throttled && epoch === 1) return park(coordinator, leased.review, owner)
    if (planned.pool !== undefined) await openPool(coordinator, slotOf(leased.review))
    const outcome = { state: 'completed', result: owner, findings: 0, blocking: 0 } as const
    const { kind, token } = await completeReview(ledger, leased.review, { epoch, owner }, outcome)
    if (kind === 'stale') return 'stale'
    if (token !== undefined) await tellDone(coordinator, { ...leased.review, state: 'completed', token })
    await grantSlots(coordinator, [slotOf(leased.review)])
    return 'completed'
  }

async function park(coordinator: Coordinator, review: Review, owner: string): Promise<string> {
  const { ledger, now } = coordinator
  const waits = await releaseReview(ledger, review, { epoch: review.epoch, owner, now: now() })
  await closePool(coordinator, slotOf(review), now() + THROTTLED_MS)
  if (waits?.state === 'waiting') await enqueue(coordinator, waits)
  return 'stale'
}

/** The sweeper at one due item, called as in functions/sweep/handler.ts. */
export const sweep =
  (key: Key): Code =>
  async (ports) => {
    const parts = coordinatorOf(ports)
    const item = await readDue(parts.ledger, key, ports.now())
    if (!item) return 'not due'
    await postponeDue(parts.ledger, key, item.dueAt, nextDueAt(item, ports.now(), parts.ledger.timings.recheckMs))
    await takeUp(parts, item)
    return 'swept'
  }

/** An operator's change of limits. */
export const limit =
  (patch: object): Code =>
  async (ports) => {
    const { kind } = await setLimits(coordinatorOf(ports), patch)
    return kind
  }
