/** Takes up one thing that is due: reads it as it is now, and does what `sweep.ts` says. */
import { randomUUID } from 'node:crypto'
import { describeExecution, executionArnOf, startExecution, stopExecution } from '../../shared/aws/executions.ts'
import type { Log } from '../../shared/aws/log.ts'
import { type NudgeQueue, nudge } from '../../shared/aws/queue.ts'
import { Dead } from '../../shared/base/errors.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { endUnwanted } from '../../shared/coordinator/end-review.ts'
import { type EndingParts, finishEnding } from '../../shared/coordinator/ending.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { forgetIdlePools, giveUpWaiting } from '../../shared/coordinator/give-up.ts'
import { enqueue, handOn, slotOf } from '../../shared/coordinator/grant-slots.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { showParked } from '../../shared/coordinator/show-parked.ts'
import { takeBackEnded } from '../../shared/coordinator/take-back.ts'
import { tellDone } from '../../shared/coordinator/tell-done.ts'
import { modelOfPool } from '../../shared/fleet/pools.ts'
import { impatience, parkedSince } from '../../shared/fleet/throttling.ts'
import type { DueItem } from '../../shared/ledger/due.ts'
import { readFleet, restFleet } from '../../shared/ledger/fleet.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { isQueued } from '../../shared/ledger/queued.ts'
import { readReview, ticketOf } from '../../shared/ledger/review.ts'
import { beginEnding, readRun } from '../../shared/ledger/run.ts'
import { resumeRun } from '../../shared/ledger/run-again.ts'
import { readThread } from '../../shared/ledger/thread.ts'
import { isDone, parseReviewId, type Review, reviewIdOf } from '../../shared/runs/review.ts'
import { isLive, type Reason, type Run } from '../../shared/runs/run.ts'
import { type ExecutionSeen, isWanted, runActionOf, voidSlots } from './core/sweep.ts'
import { newTick, type Tick } from './core/tick.ts'

export interface SweepParts extends EndingParts {
  readonly inbox: NudgeQueue
  readonly log: Log
}

/** Throws whatever went wrong; the row has been moved on before, and is looked at again. */
export async function takeUp(parts: SweepParts, item: DueItem, tick: Tick = newTick()): Promise<void> {
  switch (item.kind) {
    case 'run':
      return takeUpRun(parts, item.run, tick)
    case 'review':
      return takeUpReview(parts, item.review, tick)
    case 'fleet':
      return takeUpFleet(parts)
    case 'event': {
      const { repository, number, cause } = item.event
      return nudge(parts.inbox, { contract: CONTRACT, repositoryId: repository.id, number, cause }, randomUUID())
    }
    case 'message':
      return nudgePost(parts, item.message, tick)
    case 'resources':
      return nudgePost(parts, item.resources, tick)
    case 'unknown':
      throw new Dead('due_unknown', 'Nothing is known to do about it.', 'Deploy the version that wrote it.')
  }
}

async function takeUpRun(parts: SweepParts, due: Run, tick: Tick): Promise<void> {
  const { ledger, executions, stateMachineArn, log, now } = parts
  const execution = await seen(parts, due)
  // Read again after its execution was seen: one that has ended may have written just before that the run is held or done.
  const run = await readRun(ledger, due.runId)
  if (run?.version !== due.version) return
  const action = runActionOf(run, execution, run.state === 'held' && (await mustWait(parts, run)))
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
      await finishEnding(parts, run.runId)
      return
    }
    case 'finish_ending':
      await finishEnding(parts, run.runId)
      return
    case 'nudge':
      if (await finishIfShown(parts, run.runId)) return
      return nudgePost(parts, { repositoryId: run.repository.id, number: run.number, runId: run.runId }, tick)
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
async function mustWait({ ledger }: SweepParts, run: Run): Promise<boolean> {
  if (await standingHalt(ledger, run.repository)) return true
  if (run.reason?.code !== 'attempt_waits') return false
  const thread = await readThread(ledger, run.repository.id, run.number)
  const speaks = thread?.liveRun && (await readRun(ledger, thread.liveRun.runId))
  return speaks?.head === run.head && isLive(speaks.state)
}

async function takeUpReview(parts: SweepParts, due: Review, tick: Tick): Promise<void> {
  const { ledger } = parts
  const review = await readReview(ledger, due)
  if (!review) return
  if (isDone(review.state)) return tellDone(parts, review) // who completed it died before it told who waits
  const run = await readRun(ledger, review.runId)
  if (!run || !isWanted(review, run)) {
    await endUnwanted(parts, review, 'ended')
    return handOn(parts, [slotOf(review)])
  }
  if (review.state === 'waiting') return takeUpWaiting(parts, { review, run }, tick)
  await takeBackEnded(parts, review)
}

/** Nothing is written for a review that just waits: there may be thousands of them. */
async function takeUpWaiting(parts: SweepParts, { review, run }: { review: Review; run: Run }, tick: Tick) {
  const { ledger } = parts
  // Nobody gets a place under a halt: the run waits for its end, not each of its reviews.
  if (await standingHalt(ledger, run.repository)) {
    await holdForHalt(parts, run)
    return
  }
  if (await takeUpParked(parts, review, run)) return
  // Its ticket or its marker may have been lost with the process that wrote them. Putting them again is harmless.
  if (!(await isQueued(ledger, ticketOf(review)))) return enqueue(parts, review)
  // Who left a place free may have died before it looked into the queues; once for all who wait.
  return tick.once('hand_on', () => handOn(parts))
}

/** A review whose pool is closed is parked, which its run says; true if its patience is over (L2). */
async function takeUpParked(parts: SweepParts, review: Review, run: Run): Promise<boolean> {
  const { ledger, now, log } = parts
  if (modelOfPool(review.pool) === undefined) return false
  const { closed, slots } = await readFleet(ledger)
  const closing = closed[review.pool]
  if (!closing || slots[reviewIdOf(review)]) return false
  const since = parkedSince(review, run, closing)
  if (now() - since < ledger.timings.patienceMs) {
    await showParked(parts, run, { pool: review.pool, since, nextTry: closing.until })
    return false
  }
  const reason = impatience(review.pool, ledger.timings.patienceMs)
  await giveUpWaiting(parts, review, reason)
  log.info('Given up', { runId: run.runId, reviewId: `${review.lens}/${review.part}`, code: reason.code })
  return true
}

async function takeUpFleet(parts: SweepParts): Promise<void> {
  const fleet = await readFleet(parts.ledger)
  const reviews = new Map<string, Review | undefined>()
  for (const reviewId of Object.keys(fleet.slots)) {
    const name = parseReviewId(reviewId)
    reviews.set(reviewId, name && (await readReview(parts.ledger, name)))
  }
  // A review that waits although it has its slot: who granted it died before it was told (IL7).
  const ungranted = [...reviews.values()].flatMap((review) => (review?.state === 'waiting' ? [ticketOf(review)] : []))
  await handOn(parts, voidSlots(fleet.slots, reviews), ungranted)
  await forgetIdlePools(parts)
  if (reviews.size === 0) await restFleet(parts.ledger)
}

/** Once a run: its row, its messages and its resources are often due together. */
async function nudgePost(
  parts: SweepParts,
  about: { repositoryId: number; number: number; runId: string },
  tick: Tick,
): Promise<void> {
  const { repositoryId, number, runId } = about
  const message = { contract: CONTRACT, repositoryId, number, runId }
  return tick.once(`post ${repositoryId}#${number} ${runId}`, () => nudge(parts.outbox, message, randomUUID()))
}

/** Asked only of runs that wait for their execution. */
async function seen(parts: SweepParts, run: Run): Promise<ExecutionSeen> {
  if (run.state !== 'accepted' && run.state !== 'running') return 'running'
  const status = await describeExecution(parts.executions, executionArnOf(parts.stateMachineArn, run))
  return status.kind
}
