/** Reviews in the ledger: waiting, granted, leased, done. Every write checks the epoch; none of a stale one has an effect (I8). */
import { randomUUID } from 'node:crypto'
import { REVIEWS_PER_RUN_MAX } from '../base/limits.ts'
import { without } from '../base/schema.ts'
import {
  acquire,
  complete,
  type Fence,
  type LeaseItem,
  type LostWorker,
  type ReviewOutcome,
  release,
  renew,
  takeBack as takeBackStep,
} from '../fleet/lease.ts'
import { isDone, OF_REVIEWS_ATTEMPT, type Review, type ReviewName, reviewIdOf } from '../runs/review.ts'
import type { Reason } from '../runs/run.ts'
import { withToken } from '../runs/task-tokens.ts'
import { carryOut, leaseItemFrom } from './carry-out.ts'
import { change, contended, create, due, type Item, keyOf, type Ledger, read, readPrefix } from './table.ts'

/** A review; undefined before its first ticket (`planned`). */
export async function readReview(ledger: Ledger, name: ReviewName): Promise<Review | undefined> {
  return read(ledger, keyOf.review(name), reviewFrom)
}

/** The reviews of a run's plan key; all of the run's if no key is given. */
export async function readReviews(ledger: Ledger, runId: string, planKey?: string): Promise<Review[]> {
  const prefix = planKey === undefined ? 'REVIEW#' : `REVIEW#${planKey}#`
  return readPrefix(ledger, { pk: keyOf.run(runId).pk, prefix, limit: REVIEWS_PER_RUN_MAX }, reviewFrom)
}

/**
 * Makes the review wait with this task token, for this attempt of its run. A completed review, and a review that is
 * granted or leased in this attempt, only gets the new token: a dead answer proves nothing about the review.
 */
export async function awaitGrant(
  ledger: Ledger,
  wanted: Pick<Review, 'runId' | 'planKey' | 'lens' | 'part' | 'attempt' | 'repository' | 'pool' | 'turn'> & {
    token: string
  },
  options: { writer: string; now: number },
): Promise<Review> {
  const key = keyOf.review(wanted)
  return contended(async () => {
    const current = await readReview(ledger, wanted)
    if (!current) {
      const review: Review = { ...wanted, state: 'waiting', epoch: 1 }
      const written = await create(ledger, {
        ...key,
        ...review,
        ...due(key, options.now + ledger.timings.grantMs),
        writer: options.writer,
      })
      return written.done ? review : 'again'
    }
    if (current.state === 'completed') return current
    const newAttempt = current.attempt < wanted.attempt
    if (current.attempt > wanted.attempt) return { ...current, state: 'ended' }
    if (!newAttempt && (current.state === 'failed' || current.state === 'ended')) return current

    const restarts = newAttempt || current.state === 'planned'
    // A call of Admit that Step Functions gave up may go on and arrive last: its token displaces no other token (IL9).
    const token = withToken(current.token, wanted.token)
    const next: Review = newAttempt
      ? { ...wanted, state: 'waiting', epoch: current.epoch + 1 }
      : { ...current, token, state: restarts ? 'waiting' : current.state }
    if (!restarts && token === current.token) return current
    const written = await change(ledger, key, {
      set: restarts ? { ...next, ...due(key, options.now + ledger.timings.grantMs) } : { token },
      ...(newAttempt ? { remove: OF_REVIEWS_ATTEMPT } : {}),
      // The condition includes the token: a repeated write that arrives after a later Admit must not bring its dead
      // token back.
      if: { state: current.state, epoch: current.epoch, attempt: current.attempt, token: current.token },
    })
    return written.done ? next : 'again'
  })
}

/** Marks a waiting review as granted at this epoch, and returns the review; undefined for a void ticket. */
export async function grantReview(
  ledger: Ledger,
  ticket: { name: ReviewName; epoch: number },
  now: number,
): Promise<Review | undefined> {
  const key = keyOf.review(ticket.name)
  const until = now + ledger.timings.grantMs
  const written = await change(ledger, key, {
    set: { state: 'granted', until, ...due(key, until) },
    if: { state: 'waiting', epoch: ticket.epoch },
  })
  if (written.done) return { ...reviewFrom(written.before ?? {}), state: 'granted', until }
  const current = written.item && reviewFrom(written.item)
  return current?.epoch === ticket.epoch && (current.state === 'granted' || current.state === 'leased')
    ? current
    : undefined
}

/** Removes an answered or dead task token, if the item still has the token. */
export async function dropToken(ledger: Ledger, name: ReviewName, token: string): Promise<void> {
  await change(ledger, keyOf.review(name), { remove: ['token'], if: { token } })
}

/**
 * Removes the answered token of a done review, and takes the review off the `due` index. Nothing happens if the review
 * has moved on, or has another token.
 */
export async function settleDone(ledger: Ledger, review: Review): Promise<void> {
  const { state, epoch, token } = review
  await change(ledger, keyOf.review(review), { remove: ['token', 'duePk', 'dueAt'], if: { state, epoch, token } })
}

/** The outcome of taking a lease. */
export type Leased =
  | { readonly kind: 'leased'; readonly review: Review }
  | { readonly kind: 'held' }
  | { readonly kind: 'stale' }

/** Takes the lease of a granted review at this epoch, in the worker's own name. */
export async function leaseReview(ledger: Ledger, name: ReviewName, lease: Fence & { now: number }): Promise<Leased> {
  const step = acquire(lease, lease.now + ledger.timings.reviewLeaseMs)
  const taken = await carryOut(ledger, name, () => step)
  if (taken.kind === 'done') return { kind: 'leased', review: withoutWriter(taken.item) }
  return { kind: taken.code === 'lease_held' ? 'held' : 'stale' }
}

/**
 * Renews the lease; false means a lost lease. Rejects if the outcome is unknown: neither the write nor a read was
 * answered.
 */
export async function renewLease(
  ledger: Ledger,
  name: ReviewName,
  lease: Fence & { now: number },
  signal: AbortSignal,
): Promise<boolean> {
  const step = renew(lease, lease.now + ledger.timings.reviewLeaseMs)
  return (await carryOut(ledger, name, () => step, signal)).kind === 'done'
}

/**
 * The outcome of completing. `token` belongs to an Admit that came again meanwhile: the worker answers the token, then
 * settles the review.
 */
export interface Completed {
  readonly kind: 'completed' | 'replay' | 'outcome_conflict' | 'stale'
  readonly token?: string
}

/** Completes a leased review with its result or its failure. The same content again is a replay (RC2, RC3). */
export async function completeReview(
  ledger: Ledger,
  name: ReviewName,
  lease: Fence,
  outcome: ReviewOutcome,
): Promise<Completed> {
  const done = await carryOut(ledger, name, (seen) => complete(lease, outcome, seen?.token))
  if (done.kind === 'refused') return { kind: done.code === 'outcome_conflict' ? done.code : 'stale' }
  const { token } = done.item
  return { kind: done.repeated ? 'replay' : 'completed', ...(token === undefined ? {} : { token }) }
}

/**
 * Gives a lease back without a result: the review waits again, or is planned until Admit comes. Returns the review;
 * undefined if another owner has the lease. `throttledSince` (ms UTC) is kept on the review.
 */
export async function releaseReview(
  ledger: Ledger,
  name: ReviewName,
  lease: Fence & { now: number; throttledSince?: number },
): Promise<Review | undefined> {
  const { throttledSince } = lease
  const recheckAt = lease.now + ledger.timings.grantMs
  const released = await carryOut(ledger, name, (seen) =>
    release(lease, seen?.token, recheckAt, throttledSince === undefined ? {} : { throttledSince }),
  )
  return released.kind === 'done' ? withoutWriter(released.item) : undefined
}

/** The outcome of taking back: the review, and whether this call took the review back. */
export interface TakenBack {
  readonly taken: boolean
  readonly review: Review
}

/**
 * Takes a review back whose grant or lease ended before `now`, or whose worker is `lost`. Its own first try, repeated after a
 * lost answer, counts (AW32).
 */
export async function takeBack(
  ledger: Ledger,
  review: Review,
  now: number,
  options: { readonly writer?: string; readonly lost?: LostWorker | undefined } = {},
): Promise<TakenBack> {
  const { writer = randomUUID(), lost } = options
  const step = takeBackStep(review, { now, writer, recheckAt: now + ledger.timings.grantMs, ...(lost ? { lost } : {}) })
  const taken = step && (await carryOut(ledger, review, () => step))
  return taken?.kind === 'done' ? { taken: true, review: withoutWriter(taken.item) } : { taken: false, review }
}

/**
 * Ends an undone review, for this attempt only (IL11): the raised epoch voids every write of its worker. Returns the
 * ended review; undefined if the review has not ended. A token stays on the review, and the review stays due, until
 * `settleDone`.
 */
export async function endReview(ledger: Ledger, review: Review): Promise<Review | undefined> {
  return contended(async () => {
    const current = await readReview(ledger, review)
    if (!current || current.attempt !== review.attempt) return undefined
    if (isDone(current.state)) return current.state === 'ended' ? current : undefined
    const { state, epoch, attempt, token } = current
    const written = await change(ledger, keyOf.review(review), {
      set: { state: 'ended', epoch: epoch + 1 },
      remove: ['until', 'owner', ...(token === undefined ? ['duePk', 'dueAt'] : [])],
      if: { state, epoch, attempt, token },
    })
    if (!written.done) return 'again'
    return { ...without(current, ['owner', 'until']), state: 'ended', epoch: epoch + 1 }
  })
}

/**
 * Fails a review that waits as read: the raised epoch voids every grant. Returns the failed review; undefined if the
 * review has moved on. A token stays on the review, and the review stays due, until `settleDone`.
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

/** The ticket of a waiting review, as in its queue. */
export function ticketOf(review: Review) {
  return {
    reviewId: reviewIdOf(review),
    epoch: review.epoch,
    repository: review.repository.id,
    installation: review.repository.installationId,
    pool: review.pool,
    turn: review.turn,
  }
}

/** Reads a review from an item. */
export function reviewFrom(item: Item): Review {
  return withoutWriter(leaseItemFrom(item))
}

function withoutWriter({ writer: _writer, ...review }: LeaseItem): Review {
  return review
}
