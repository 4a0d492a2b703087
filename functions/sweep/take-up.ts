/** Takes up the item of a due key: moves the item to the back of its lane, then acts by its kind. */
import { randomUUID } from 'node:crypto'
import { nudge } from '../../shared/aws/queue.ts'
import { nameOf, sentenceOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import { type DueItem, kindOfKey, postponeDue, readDue } from '../../shared/ledger/due.ts'
import type { Key } from '../../shared/ledger/table.ts'
import { nextDueAt } from './core/sweep.ts'
import { newTick, type Tick } from './core/tick.ts'
import type { SweepDeps } from './deps.ts'
import { takeUpFleet } from './fleet.ts'
import { takeUpReview } from './review.ts'
import { takeUpRun } from './run.ts'

export interface TakenUp {
  /** `past`: the item was not due any more. */
  readonly outcome: 'done' | 'failed' | 'past'
  /** The time from the item's due time to its reading, ms. */
  readonly lateMs: number
}

/** Never throws: a failed item is logged, and delays no further item. */
export async function takeUpKey(deps: SweepDeps, key: Key, now: number, tick: Tick): Promise<TakenUp> {
  const { ledger, log } = deps
  const { recheckMs } = ledger.timings
  let lateMs = 0
  try {
    const item = await readDue(ledger, key, now)
    if (!item) return { outcome: 'past', lateMs }
    lateMs = now - item.dueAt
    // First to the back: an item whose action fails, or kills the process, must not stay first for ever.
    await postponeDue(ledger, key, item.dueAt, nextDueAt(item, now, recheckMs))
    FAILPOINT: await failpoint('sweep.moved_on')
    await takeUp(deps, item, tick)
    return { outcome: 'done', lateMs }
  } catch (error) {
    log.error('A due item failed', {
      key: kindOfKey(key),
      error: nameOf(error),
      code: sentenceOf(error).slice(0, 200),
    })
    return { outcome: 'failed', lateMs }
  }
}

/** Rejects as the action for the item's kind does. */
export async function takeUp(deps: SweepDeps, item: DueItem, tick: Tick = newTick()): Promise<void> {
  switch (item.kind) {
    case 'run':
      if (!(await takeUpRun(deps, item.run))) return
      return nudgePost(deps, { ...item.run, repositoryId: item.run.repository.id }, tick)
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

/** Nudges post once a tick for each run, as a run, its messages and its resources are often due together. */
async function nudgePost(
  { outbox }: SweepDeps,
  { repositoryId, number, runId }: { readonly repositoryId: number; readonly number: number; readonly runId: string },
  tick: Tick,
): Promise<void> {
  const message = { contract: CONTRACT, repositoryId, number, runId }
  return tick.once(`post ${repositoryId}#${number} ${runId}`, () => nudge(outbox, message, randomUUID()))
}
