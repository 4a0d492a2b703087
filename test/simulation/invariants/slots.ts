/**
 * I1, first half: at the moment of a grant no more slots are held than effective, in the fleet, a pool and a
 * repository.
 */
import type { Judge } from './broken.ts'
import { effectiveFleet, effectivePool, effectiveRepository, held } from './effective.ts'
import { openHaltClock } from './halt-clock.ts'
import type { Invariant } from './invariant.ts'
import { type Change, type FleetItem, type ReviewItem, reviewKey } from './items.ts'
import { boundsOf, type View } from './view.ts'

/**
 * Slots above a lowered ceiling drain by themselves, so only grants are judged. A halt is read right before a grant, so
 * a grant may still be written shortly after the halt was set.
 */
export function slotsInvariant(view: View, judge: Judge): Invariant {
  const halts = openHaltClock(view)

  function granted({ before, after }: Change<FleetItem>): void {
    if (!after) return
    const grants = Object.entries(after.slots).filter(([id, { epoch }]) => before?.slots[id]?.epoch !== epoch)
    if (grants.length === 0) return
    judge.looked()
    const { limits } = after
    const facts = () => ({ granted: grants.map(([id]) => id), limits, slots: after.slots })
    judge.holds(held(after) <= effectiveFleet(limits), 'A grant made the fleet hold more than effective.', facts)
    for (const [reviewId, slot] of grants) {
      const { pool, repository } = slot
      const inPool = held(after, { pool })
      judge.holds(inPool <= effectivePool(limits, pool), `A grant made ${pool} hold more than effective.`, facts)
      const ofRepository = held(after, { repository })
      judge.holds(
        ofRepository <= effectiveRepository(limits),
        'A grant made a repository hold more than effective.',
        facts,
      )
      judgeClosing(reviewId, slot.epoch, pool, before, after)
      judgeReview(reviewId, slot.epoch)
    }
  }

  /** A closed pool grants only its probe. The time of the probe isn't judged here, because clocks differ. */
  function judgeClosing(
    reviewId: string,
    epoch: number,
    pool: string,
    before: FleetItem | undefined,
    after: FleetItem,
  ) {
    const closing = after.closed[pool]
    if (!closing) return
    const facts = () => ({ reviewId, epoch, pool, closing, earlier: before?.closed[pool] })
    const isProbe = closing.probe?.reviewId === reviewId && closing.probe.epoch === epoch
    judge.holds(isProbe, 'A place in a closed pool was given to other than its probe.', facts)
    const earlier = before?.closed[pool]?.probe
    const stillProbing = earlier !== undefined && after.slots[earlier.reviewId]?.epoch === earlier.epoch
    const same = earlier?.reviewId === reviewId && earlier.epoch === epoch
    judge.holds(!stillProbing || same, 'A second probe was granted beside one that holds its slot.', facts)
  }

  function judgeReview(reviewId: string, epoch: number): void {
    const review = view.table.item(reviewKey(reviewId)) as unknown as ReviewItem | undefined
    judge.holds(review !== undefined, 'A slot was granted to a review that does not exist.', () => ({
      reviewId,
      epoch,
    }))
    const seen = { reviewId, slot: epoch, review: review.epoch }
    judge.holds(epoch <= review.epoch, 'A slot is of a later epoch than its review.', () => seen)
    const standingMs = halts.standingMs(review.repository) ?? 0
    judge.holds(
      standingMs <= boundsOf(view).haltMs,
      'A place was given to a repository long after it was halted.',
      () => ({ ...seen, standingMs }),
    )
  }

  return { watch: { ...halts.watch, fleet: granted } }
}
