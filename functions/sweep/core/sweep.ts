/** What the sweeper does about each thing that is due. Pure: the facts in, one action out. */
import type { ExecutionStatus } from '../../../shared/aws/executions.ts'
import type { DueItem } from '../../../shared/ledger/due.ts'
import type { Review } from '../../../shared/runs/review.ts'
import type { Run } from '../../../shared/runs/run.ts'

export type RunAction =
  | { readonly kind: 'start' }
  /** The execution ended and the run didn't: nobody else will end it. */
  | { readonly kind: 'fail' }
  | { readonly kind: 'finish_ending' }
  /** Concluded: what is owed to GitHub is looked at again. */
  | { readonly kind: 'nudge' }
  /** A halt was lifted, or what it waited for has ended: as another attempt. */
  | { readonly kind: 'resume' }
  /** Nothing yet: its row has been moved on. */
  | { readonly kind: 'look_later' }

/** A run that is due. `mustWait`: what a held run waits for still stands. */
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

/** Looks of others that pass until a waiting review is looked at again: it only has to be seen that its ticket stands. */
const WAITING_LOOKS = 5
/** An event that isn't done is looked at again after this part of its age: one that never will be costs less and less. */
const EVENT_AGE_PART = 4

/** When a thing that is due is looked at again if nothing comes of this look, ms UTC. */
export function nextDueAt(item: DueItem, now: number, recheckMs: number): number {
  if (item.kind === 'review' && item.review.state === 'waiting') return now + WAITING_LOOKS * recheckMs
  if (item.kind !== 'event') return now + recheckMs
  // One that is malformed has no age, and must be moved on all the same.
  const age = now - item.event.eventAt
  return now + (age > EVENT_AGE_PART * recheckMs ? age / EVENT_AGE_PART : recheckMs)
}

/** True if the run still wants this review, so that taking it back leads somewhere. */
export function isWanted(review: Review, run: Run | undefined): run is Run {
  return run?.attempt === review.attempt && run.state === 'running'
}

/** Slots that are void: their review is done, gone, or at another epoch (IL6). `reviews` is by review id. */
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
