/** Runs that are parked, with what GitHub shows of that, so that each beginning and end is shown once; reviews given up. */
import type { Review } from '../runs/review.ts'
import type { Reason, Run } from '../runs/run.ts'
import { type Raise, raiseInTransaction } from './resource.ts'
import { change, changeInTransaction, due, keyOf, type Ledger, transact } from './table.ts'

/**
 * Marks a run as parked, or takes the mark away (undefined), and raises `wanted`, if the run is as it was read. Halts are
 * not asked: under one, post shows nothing. With hundreds of runs parked at once, they would refuse each other at that item.
 */
export async function writeParked(
  ledger: Ledger,
  run: Run,
  parked: Run['parked'],
  raise: Pick<Raise, 'wanted' | 'now'>,
): Promise<'done' | 'again'> {
  const key = keyOf.run(run.runId)
  const { repository, number, runId } = run
  const members = { version: run.version + 1, ...due(key, raise.now + ledger.timings.recheckMs) }
  const answer = await transact(ledger, [
    changeInTransaction(ledger, key, {
      ...(parked ? { set: { ...members, parked } } : { set: members, remove: ['parked'] }),
      if: { version: run.version },
    }),
    raiseInTransaction(ledger, { repositoryId: repository.id, number, runId, ...raise }),
  ])
  return answer.done ? 'done' : 'again'
}

/**
 * Fails a review that still waits as it was read: its epoch is raised, so that no grant of it counts. Answers it as it is then;
 * undefined if it has moved on. A token stays on it, and it stays due, until `settleDone`.
 */
export async function failWaiting(ledger: Ledger, review: Review, reason: Reason): Promise<Review | undefined> {
  const { state, epoch, attempt, token } = review
  if (state !== 'waiting') return undefined
  const failed = { state: 'failed', epoch: epoch + 1, reason } as const
  const written = await change(ledger, keyOf.review(review), {
    set: failed,
    ...(token === undefined ? { remove: ['duePk', 'dueAt'] } : {}),
    if: { state, epoch, attempt, token },
  })
  return written.done ? { ...review, ...failed } : undefined
}
