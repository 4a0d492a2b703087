/** How work on a review ends: it is completed, ended or parked; who waits is told, and its place handed on. */
import type { Log } from '../../shared/aws/log.ts'
import { nameOf, StaleFence } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { endUnwanted } from '../../shared/coordinator/end-review.ts'
import { closePool, grantSlots, openPool, slotOf } from '../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { parkReview } from '../../shared/coordinator/park.ts'
import { type ShowParkedDeps, showGoingOn, showParked } from '../../shared/coordinator/show-parked.ts'
import { tellDone } from '../../shared/coordinator/tell-done.ts'
import type { ReviewOutcome } from '../../shared/fleet/lease.ts'
import { impatience, throttledOf } from '../../shared/fleet/throttling.ts'
import { completeReview } from '../../shared/ledger/review.ts'
import type { ReviewAnswer } from '../../shared/runs/contract.ts'
import type { Review } from '../../shared/runs/review.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { Reading } from './work.ts'

export interface EndDeps extends Coordinator, ShowParkedDeps {
  readonly log: Log
  /** From 0 to 1. */
  readonly random: () => number
}

/** A review that a worker holds, with the run that it is of, as both were read when it began. */
export interface Held {
  readonly run: Run
  readonly review: Review
  readonly owner: string
}

/** The whole run waits, so that none of it is concluded without what this halt kept from being read. */
export async function hold(deps: EndDeps, { run, review }: Held): Promise<ReviewAnswer> {
  await holdForHalt(deps, run)
  FAILPOINT: await failpoint('review.run_held')
  return end(deps, review, 'held')
}

/** Nobody wants the review any more, or not now: it ends, and its place is handed on. */
export async function end(deps: EndDeps, review: Review, outcome: 'ended' | 'held'): Promise<ReviewAnswer> {
  await endUnwanted(deps, review, outcome)
  FAILPOINT: await failpoint('review.ended')
  await orSweep(deps, review, () => grantSlots(deps, [slotOf(review)]))
  return { outcome, findings: 0, blocking: 0 }
}

/**
 * Its model has let the review in, which is still being read: if it is the probe of its pool, the pool opens, and its run goes
 * on. True if the pool is open then and the run says so. Never rejects: what was not done is done when the review is.
 */
export async function admitOthers(
  deps: EndDeps,
  { run, review }: Pick<Held, 'run' | 'review'>,
  assertHeld: () => void,
): Promise<boolean> {
  try {
    assertHeld()
    const isOpen = await openPool(deps, slotOf(review))
    FAILPOINT: await failpoint('review.others_admitted')
    assertHeld()
    if (isOpen && run.parked?.pool === review.pool) await showGoingOn(deps, run)
    return isOpen
  } catch (error) {
    deps.log.warn('A pool was not opened while its probe was read', { runId: run.runId, error: nameOf(error) })
    return false
  }
}

/** It is done: a probe's pool opens before its place is given up, so that who takes it finds it open. */
export async function finish(
  deps: EndDeps,
  held: Held,
  { outcome, isAnswered, isOpen }: Extract<Reading, { kind: 'done' }>,
): Promise<ReviewAnswer> {
  const { run, review } = held
  const answer = await complete(deps, held, outcome)
  await orSweep(deps, review, async () => {
    const isOpenNow = isAnswered && !isOpen && (await openPool(deps, slotOf(review)))
    FAILPOINT: await failpoint('review.pool_opened')
    await grantSlots(deps, [slotOf(review)])
    if (isOpenNow && run.parked?.pool === review.pool) await showGoingOn(deps, run)
  })
  return answer
}

/** Its model is throttled: nobody works there until it is tried again. The review waits, or has waited for too long (L2). */
export async function park(
  deps: EndDeps,
  held: Held,
  { afterMs, isOpen }: Extract<Reading, { kind: 'throttled' }>,
): Promise<ReviewAnswer> {
  const { ledger, log, now, random } = deps
  const { run, review, owner } = held
  const throttled = throttledOf(review, { afterMs, now: now(), random: random() }, ledger.timings)
  const { since, until } = throttled
  if (throttled.isGivenUp) {
    const reason = impatience(review.pool, ledger.timings.patienceMs)
    const answer = await complete(deps, held, { state: 'failed', reason })
    await orSweep(deps, review, () => closePool(deps, slotOf(review), until))
    return answer
  }
  if (!(await parkReview(deps, review, { epoch: review.epoch, owner }, throttled))) throw new StaleFence()
  log.info('Parked', { runId: run.runId, reviewId: `${review.lens}/${review.part}`, outcome: review.pool })
  // Where others had been let in, the run as it was read may be marked still, and isn't any more.
  const { parked: _gone, ...unmarked } = run
  const seen = isOpen ? unmarked : run
  await orSweep(deps, review, () => showParked(deps, seen, { pool: review.pool, since, nextTry: until }))
  return { outcome: 'parked', findings: 0, blocking: 0 }
}

async function complete(deps: EndDeps, { review, owner }: Held, outcome: ReviewOutcome): Promise<ReviewAnswer> {
  const { runId, lens, part, epoch } = review
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
  deps.log.info('Review done', { runId, reviewId: `${lens}/${part}`, outcome: outcome.state, count: counts.findings })
  return { outcome: outcome.state, ...counts }
}

/** What became of the review stands whatever happens here: a place that isn't given up is void, and the sweeper hands it on (RC6). */
async function orSweep({ log }: EndDeps, { runId }: Review, releaseSlot: () => Promise<void>): Promise<void> {
  try {
    await releaseSlot()
  } catch (error) {
    log.warn('What follows from the review was not done; the sweeper will', { runId, error: nameOf(error) })
  }
}
