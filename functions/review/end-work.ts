/** The end of work on a review: the review is completed, ended or parked, its task told, and its slot handed on. */
import { aboutReview, type Log } from '../../shared/aws/log.ts'
import { nameOf, StaleFence } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { endUnwanted, tellDone } from '../../shared/coordinator/end-review.ts'
import { closePool, grantSlots, openPool, slotOf } from '../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { parkReview, type ShowParkedDeps, showGoingOn, showParked } from '../../shared/coordinator/parking.ts'
import type { ReviewOutcome } from '../../shared/fleet/lease.ts'
import { impatience, throttledOf } from '../../shared/fleet/throttling.ts'
import { completeReview } from '../../shared/ledger/review.ts'
import type { ReviewAnswer } from '../../shared/runs/contract.ts'
import type { Review } from '../../shared/runs/review.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { ReadingOutcome } from './work.ts'

export interface EndDeps extends Coordinator, ShowParkedDeps {
  readonly log: Log
  /** From 0 to 1. */
  readonly random: () => number
}

/** A review held by a worker, and its run, both as read when the work began. */
export interface HeldReview {
  readonly run: Run
  readonly review: Review
  readonly owner: string
}

/** The whole run waits: no conclusion is made without the reviews withheld by the halt. */
export async function hold(deps: EndDeps, { run, review }: HeldReview): Promise<ReviewAnswer> {
  await holdForHalt(deps, run)
  FAILPOINT: await failpoint('review.run_held')
  return end(deps, review, 'held')
}

/** Ends a review unwanted by its run, or held under a halt, and hands its slot on. */
export async function end(deps: EndDeps, review: Review, outcome: 'ended' | 'held'): Promise<ReviewAnswer> {
  await endUnwanted(deps, review, outcome)
  FAILPOINT: await failpoint('review.ended')
  await orLeaveToSweeper(deps, review, () => grantSlots(deps, [slotOf(review)]))
  return { outcome, findings: 0, blocking: 0 }
}

/**
 * Opens the pool of a probe admitted by the model and still being read, and shows that the run goes on; any other review opens
 * nothing. True if the pool is open and the run says so. Never rejects: `finish` repeats a failed step.
 */
export async function admitOthers(
  deps: EndDeps,
  { run, review }: Pick<HeldReview, 'run' | 'review'>,
  assertHeld: () => void,
): Promise<boolean> {
  try {
    assertHeld()
    const isPoolOpen = await openPool(deps, slotOf(review))
    FAILPOINT: await failpoint('review.others_admitted')
    assertHeld()
    if (isPoolOpen && run.parked?.pool === review.pool) await showGoingOn(deps, run)
    return isPoolOpen
  } catch (error) {
    deps.log.warn('A pool was not opened while its probe was read', { runId: run.runId, error: nameOf(error) })
    return false
  }
}

/** Completes a done review. A probe's pool opens before the slot is released: the next holder finds the pool open. */
export async function finish(
  deps: EndDeps,
  held: HeldReview,
  { outcome, isAnswered, isPoolOpen }: Extract<ReadingOutcome, { kind: 'done' }>,
): Promise<ReviewAnswer> {
  const { run, review } = held
  const answer = await complete(deps, held, outcome)
  await orLeaveToSweeper(deps, review, async () => {
    const isOpened = isAnswered && !isPoolOpen && (await openPool(deps, slotOf(review)))
    FAILPOINT: await failpoint('review.pool_opened')
    await grantSlots(deps, [slotOf(review)])
    if (isOpened && run.parked?.pool === review.pool) await showGoingOn(deps, run)
  })
  return answer
}

/** Parks a review whose model is throttled, and closes its pool; fails the review if its patience is over (L2). */
export async function park(
  deps: EndDeps,
  held: HeldReview,
  { afterMs, isPoolOpen }: Extract<ReadingOutcome, { kind: 'throttled' }>,
): Promise<ReviewAnswer> {
  const { ledger, log, now, random } = deps
  const { run, review, owner } = held
  const throttled = throttledOf(review, { afterMs, now: now(), random: random() }, ledger.timings)
  const { since, until } = throttled
  if (throttled.isGivenUp) {
    const reason = impatience(review.pool, ledger.timings.patienceMs)
    const answer = await complete(deps, held, { state: 'failed', reason })
    await orLeaveToSweeper(deps, review, () => closePool(deps, slotOf(review), until))
    return answer
  }
  if (!(await parkReview(deps, review, { epoch: review.epoch, owner }, throttled))) throw new StaleFence()
  log.info('Parked', { ...aboutReview(review), outcome: review.pool })
  // Where `admitOthers` has opened the pool, the run as read here may carry its mark, but no longer the run in the
  // ledger.
  const { parked: _mark, ...unmarked } = run
  const current = isPoolOpen ? unmarked : run
  await orLeaveToSweeper(deps, review, () => showParked(deps, current, { pool: review.pool, since, nextTry: until }))
  return { outcome: 'parked', findings: 0, blocking: 0 }
}

async function complete(deps: EndDeps, { review, owner }: HeldReview, outcome: ReviewOutcome): Promise<ReviewAnswer> {
  const { runId, epoch } = review
  const { kind, token } = await completeReview(deps.ledger, review, { epoch, owner }, outcome)
  if (kind === 'stale') throw new StaleFence() // RC5
  FAILPOINT: await failpoint('review.completed')
  if (kind === 'outcome_conflict') deps.log.error('Another outcome stands already', { runId, code: kind })
  if (token !== undefined) await tellDone(deps, { ...review, state: outcome.state, token })
  FAILPOINT: await failpoint('review.told')
  const counts =
    outcome.state === 'completed'
      ? { findings: outcome.findings, blocking: outcome.blocking }
      : { findings: 0, blocking: 0 }
  deps.log.info('Review done', { ...aboutReview(review), outcome: outcome.state, count: counts.findings })
  return { outcome: outcome.state, ...counts }
}

/** The review's outcome stands whatever happens here: an unreleased slot is void, and the sweeper hands it on (RC6). */
async function orLeaveToSweeper({ log }: EndDeps, { runId }: Review, effect: () => Promise<void>): Promise<void> {
  try {
    await effect()
  } catch (error) {
    log.warn('A step after the review failed; the sweeper repeats it', { runId, error: nameOf(error) })
  }
}
