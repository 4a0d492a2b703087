/** Takes up one thing that is due: reads it as it is now, and does what `sweep.ts` says. */
import { randomUUID } from 'node:crypto'
import { describeExecution, executionArnOf, startExecution, stopExecution } from '../../shared/aws/executions.ts'
import type { Log } from '../../shared/aws/log.ts'
import { type NudgeQueue, nudge } from '../../shared/aws/queue.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { endUnwanted } from '../../shared/coordinator/end-review.ts'
import { type EndingDeps, finishEnding } from '../../shared/coordinator/ending.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { forgetIdlePools, giveUpWaiting } from '../../shared/coordinator/give-up.ts'
import { enqueue, grantSlots, slotOf } from '../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { showParked } from '../../shared/coordinator/show-parked.ts'
import { takeBackEnded } from '../../shared/coordinator/take-back.ts'
import { tellDone } from '../../shared/coordinator/tell-done.ts'
import { modelOfPool } from '../../shared/fleet/pools.ts'
import { impatience, parkedSince } from '../../shared/fleet/throttling.ts'
import type { DueItem } from '../../shared/ledger/due.ts'
import { isQueued, readFleet, restFleet } from '../../shared/ledger/fleet.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { readReview, ticketOf } from '../../shared/ledger/review.ts'
import { beginEnding, readRun, resumeRun } from '../../shared/ledger/run.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { isDone, parseReviewId, type Review, reviewIdOf } from '../../shared/runs/review.ts'
import { isLive, type Reason, type Run } from '../../shared/runs/run.ts'
import { type ExecutionSeen, isWanted, runActionOf, voidSlots } from './core/sweep.ts'
import { newTick, type Tick } from './core/tick.ts'

export interface SweepDeps extends EndingDeps {
  readonly inbox: NudgeQueue
  readonly log: Log
}

/** Throws whatever went wrong; the row has been moved on before, and is looked at again. */
export async function takeUp(deps: SweepDeps, item: DueItem, tick: Tick = newTick()): Promise<void> {
  switch (item.kind) {
    case 'run':
      return takeUpRun(deps, item.run, tick)
    case 'review':
      return takeUpReview(deps, item.review, tick)
    case 'fleet':
      return takeUpFleet(deps)
    case 'event': {
      const { repository, number, cause } = item.event
      return nudge(deps.inbox, { contract: CONTRACT, repositoryId: repository.id, number, cause }, randomUUID())
    }
    case 'message':
      return nudgePost(deps, item.message, tick)
    case 'resources':
      return nudgePost(deps, item.resources, tick)
    case 'unknown':
      throw item.why
  }
}

async function takeUpRun(deps: SweepDeps, due: Run, tick: Tick): Promise<void> {
  const { ledger, executions, stateMachineArn, log, now } = deps
  const execution = await seen(deps, due)
  // Read again after its execution was seen: one that has ended may have written just before that the run is held or done.
  const run = await readRun(ledger, due.runId)
  if (run?.version !== due.version) return
  const action = runActionOf(run, execution, run.state === 'held' && (await mustWait(deps, run)))
  log.info('Run taken up', { runId: run.runId, attempt: run.attempt, outcome: `${run.state}:${action.kind}` })
  switch (action.kind) {
    case 'start':
      return startExecution(executions, stateMachineArn, run)
    case 'fail': {
      const reason: Reason = {
        code: 'execution_failed',
        sentence: 'Its execution ended without a verdict; the Step Functions console shows why.',
      }
      await beginEnding(ledger, run, { outcome: 'failed', reason, now: now() })
      await finishEnding(deps, run.runId)
      return
    }
    case 'finish_ending':
      await finishEnding(deps, run.runId)
      return
    case 'nudge':
      if (await finishIfShown(deps, run.runId)) return
      return nudgePost(deps, { repositoryId: run.repository.id, number: run.number, runId: run.runId }, tick)
    case 'resume': {
      // A review's token may not have been answered when its run was held, and belongs to the next attempt's admission by now.
      await stopExecution(executions, executionArnOf(stateMachineArn, run), 'held')
      const resumed = await resumeRun(ledger, run, now())
      if (resumed) await startExecution(executions, stateMachineArn, resumed)
      return
    }
    case 'look_later':
      return
  }
}

/** True while what a held run waits for still stands: a halt, or the review of the head whose description was edited. */
async function mustWait({ ledger }: SweepDeps, run: Run): Promise<boolean> {
  if (await standingHalt(ledger, run.repository)) return true
  if (run.reason?.code !== 'attempt_waits') return false
  const thread = await readThread(ledger, run.repository.id, run.number)
  const speaks = thread?.liveRun && (await readRun(ledger, thread.liveRun.runId))
  return speaks?.head === run.head && isLive(speaks.state)
}

async function takeUpReview(deps: SweepDeps, due: Review, tick: Tick): Promise<void> {
  const { ledger } = deps
  const review = await readReview(ledger, due)
  if (!review) return
  if (isDone(review.state)) return tellDone(deps, review) // who completed it died before it told who waits
  const run = await readRun(ledger, review.runId)
  if (!run || !isWanted(review, run)) {
    await endUnwanted(deps, review, 'ended')
    return grantSlots(deps, [slotOf(review)])
  }
  if (review.state === 'waiting') return takeUpWaiting(deps, { review, run }, tick)
  await takeBackEnded(deps, review)
}

/** Nothing is written for a review that just waits: there may be thousands of them. */
async function takeUpWaiting(deps: SweepDeps, { review, run }: { review: Review; run: Run }, tick: Tick) {
  const { ledger } = deps
  // Nobody gets a place under a halt: the run waits for its end, not each of its reviews.
  if (await standingHalt(ledger, run.repository)) {
    await holdForHalt(deps, run)
    return
  }
  if (await takeUpParked(deps, review, run)) return
  // Its ticket or its marker may have been lost with the process that wrote them. Putting them again is harmless.
  if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(deps, review)
  // Who left a place free may have died before it looked into the queues; once for all who wait.
  return tick.once('hand_on', () => grantSlots(deps))
}

/** A review whose pool is closed is parked, which its run says; true if its patience is over (L2). */
async function takeUpParked(deps: SweepDeps, review: Review, run: Run): Promise<boolean> {
  const { ledger, now, log } = deps
  if (modelOfPool(review.pool) === undefined) return false
  const { closed, slots } = await readFleet(ledger)
  const closing = closed[review.pool]
  if (!closing || slots[reviewIdOf(review)]) return false
  const since = parkedSince(review, run, closing)
  if (now() - since < ledger.timings.patienceMs) {
    await showParked(deps, run, { pool: review.pool, since, nextTry: closing.until })
    return false
  }
  const reason = impatience(review.pool, ledger.timings.patienceMs)
  await giveUpWaiting(deps, review, reason)
  log.info('Given up', { runId: run.runId, reviewId: `${review.lens}/${review.part}`, code: reason.code })
  return true
}

async function takeUpFleet(deps: SweepDeps): Promise<void> {
  const fleet = await readFleet(deps.ledger)
  const reviews = new Map<string, Review | undefined>()
  for (const reviewId of Object.keys(fleet.slots)) {
    const name = parseReviewId(reviewId)
    reviews.set(reviewId, name && (await readReview(deps.ledger, name)))
  }
  // A review that waits although it has its slot: who granted it died before it was told (IL7).
  const ungranted = [...reviews.values()].flatMap((review) => (review?.state === 'waiting' ? [ticketOf(review)] : []))
  await grantSlots(deps, voidSlots(fleet.slots, reviews), ungranted)
  await forgetIdlePools(deps)
  if (reviews.size === 0) await restFleet(deps.ledger)
}

/** Once a run: its row, its messages and its resources are often due together. */
async function nudgePost(
  deps: SweepDeps,
  about: { repositoryId: number; number: number; runId: string },
  tick: Tick,
): Promise<void> {
  const { repositoryId, number, runId } = about
  const message = { contract: CONTRACT, repositoryId, number, runId }
  return tick.once(`post ${repositoryId}#${number} ${runId}`, () => nudge(deps.outbox, message, randomUUID()))
}

/** Asked only of runs that wait for their execution. */
async function seen(deps: SweepDeps, run: Run): Promise<ExecutionSeen> {
  if (run.state !== 'accepted' && run.state !== 'running') return 'running'
  const status = await describeExecution(deps.executions, executionArnOf(deps.stateMachineArn, run))
  return status.kind
}
