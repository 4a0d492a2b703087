/** The sweeper's decisions about due items: the facts in, one action out. Pure. */
import type { ExecutionStatus } from '../../../shared/aws/executions.ts'
import type { DueItem } from '../../../shared/ledger/due.ts'
import type { Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'

export type RunAction =
  | { readonly kind: 'start' }
  /** The execution ended before the run: only the sweeper can end the run. */
  | { readonly kind: 'fail' }
  | { readonly kind: 'finish_ending' }
  /** Concluded: post looks again at the owed messages and resources. */
  | { readonly kind: 'nudge' }
  /** The halt was lifted, or the awaited run has ended: the next attempt begins. */
  | { readonly kind: 'resume' }
  /** No action: the item has been moved on. */
  | { readonly kind: 'look_later' }

/** The action for a due run. `mustWait`: the halt or the awaited run of a held run still stands. */
export function runActionOf(run: Run, execution: ExecutionStatus['kind'], mustWait: boolean): RunAction {
  switch (run.state) {
    case 'accepted':
      if (execution === 'absent') return { kind: 'start' }
      return execution === 'ended' ? { kind: 'fail' } : { kind: 'look_later' }
    case 'running':
      return execution === 'running' ? { kind: 'look_later' } : { kind: 'fail' }
    case 'concluded':
      return { kind: 'nudge' }
    case 'held':
      return mustWait ? { kind: 'look_later' } : { kind: 'resume' }
    case 'ending':
      return { kind: 'finish_ending' }
    case 'ended':
      return { kind: 'look_later' }
  }
}

/** Rechecks between two looks at a waiting review: a look only makes sure of the ticket. */
const WAITING_LOOKS = 5
/** The part of an event’s age until the next look: the older an open event, the rarer the looks. */
const EVENT_AGE_PART = 4

/** The time of the next look at a due item if the present look changes nothing, ms UTC. */
export function nextDueAt(item: DueItem, now: number, recheckMs: number): number {
  if (item.kind === 'review' && item.review.state === 'waiting') return now + WAITING_LOOKS * recheckMs
  if (item.kind !== 'event') return now + recheckMs
  // A malformed event has no age, and must be moved on nevertheless.
  const age = now - item.event.eventAt
  return now + (age > EVENT_AGE_PART * recheckMs ? age / EVENT_AGE_PART : recheckMs)
}

/** True if the run still wants the review: only then a take-back makes sense. */
export function isWanted(review: Review, run: Run | undefined): run is Run {
  return run?.attempt === review.attempt && run.state === 'running'
}

/** Void slots: their review is done, gone, or at another epoch (IL6). `reviews` is by review id. */
export function voidSlots(
  slots: Readonly<Record<string, { readonly epoch: number }>>,
  reviews: ReadonlyMap<string, Pick<Review, 'state' | 'epoch'> | undefined>,
): { reviewId: string; epoch: number }[] {
  return Object.entries(slots).flatMap(([reviewId, { epoch }]) => {
    const review = reviews.get(reviewId)
    const holds =
      review?.epoch === epoch && (review.state === 'waiting' || review.state === 'granted' || review.state === 'leased')
    return holds ? [] : [{ reviewId, epoch }]
  })
}
