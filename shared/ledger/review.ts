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

/** One review; undefined if nobody has asked for it yet (`planned`). */
export async function readReview(ledger: Ledger, name: ReviewName): Promise<Review | undefined> {
  return read(ledger, keyOf.review(name), reviewFrom)
}

/** The reviews of a run's plan key; all of the run's if no key is given. */
export async function readReviews(ledger: Ledger, runId: string, planKey?: string): Promise<Review[]> {
  const prefix = planKey === undefined ? 'REVIEW#' : `REVIEW#${planKey}#`
  return readPrefix(ledger, { pk: keyOf.run(runId).pk, prefix, limit: REVIEWS_PER_RUN_MAX }, reviewFrom)
}

/**
 * Makes the review wait with this task token, for this attempt of its run. A completed one, or one that is granted or
 * leased in this attempt, is returned as it is but for the new token: a dead answer proves nothing about it.
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
    // An earlier call of Admit that was taken for failed may go on, and come last: its token takes no other's place (IL9).
    const token = withToken(current.token, wanted.token)
    const next: Review = newAttempt
      ? { ...wanted, state: 'waiting', epoch: current.epoch + 1 }
      : { ...current, token, state: restarts ? 'waiting' : current.state }
    if (!restarts && token === current.token) return current
    const written = await change(ledger, key, {
      set: restarts ? { ...next, ...due(key, options.now + ledger.timings.grantMs) } : { token },
      ...(newAttempt ? { remove: OF_REVIEWS_ATTEMPT } : {}),
      // Of the token too: a write that arrives once more, after a later Admit has come, must not bring its dead token back.
      if: { state: current.state, epoch: current.epoch, attempt: current.attempt, token: current.token },
    })
    return written.done ? next : 'again'
  })
}

/** Marks a waiting review as granted at this epoch; answers it as it is now, or undefined if the ticket was void. */
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

/** Removes a task token that was answered, or is dead, if it is still that one. */
export async function dropToken(ledger: Ledger, name: ReviewName, token: string): Promise<void> {
  await change(ledger, keyOf.review(name), { remove: ['token'], if: { token } })
}

/**
 * Removes the token of a review that is done, once it was answered, and with it the moment to look at the review again.
 * Nothing happens if the review has moved on since, or has another token.
 */
export async function settleDone(ledger: Ledger, review: Review): Promise<void> {
  const { state, epoch, token } = review
  await change(ledger, keyOf.review(review), { remove: ['token', 'duePk', 'dueAt'], if: { state, epoch, token } })
}

/** What taking a lease came to. */
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

/** Renews the lease; false means that it is lost. Rejects where that isn't known: no answer came, and none could be read. */
export async function renewLease(
  ledger: Ledger,
  name: ReviewName,
  lease: Fence & { now: number },
  signal: AbortSignal,
): Promise<boolean> {
  const step = renew(lease, lease.now + ledger.timings.reviewLeaseMs)
  return (await carryOut(ledger, name, () => step, signal)).kind === 'done'
}

/** What completing came to. `token` is that of an Admit that came again meanwhile: it is to be answered, then settled. */
export interface Completed {
  readonly kind: 'completed' | 'replay' | 'outcome_conflict' | 'stale'
  readonly token?: string
}

/** Completes a leased review with what its lens said, or why it failed. Twice with the same content is a replay (RC2, RC3). */
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
 * Gives a lease back without a result: the review waits again, or is planned until Admit comes. Answers it as it is then;
 * undefined if the lease was another's already. `throttledSince` (ms UTC) is kept on it.
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

/** What taking back came to: the review as it is now, and whether this call took it back. */
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
 * Ends a review that isn't done, for this attempt only (IL11): its epoch is raised, so no write of its worker counts.
 * Answers the review as it is then; undefined if it isn't one that ended. A token stays on it, and it stays due, until
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

/** The ticket of a waiting review, as it stands in its queue. */
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

/** A review from its item. */
export function reviewFrom(item: Item): Review {
  return withoutWriter(leaseItemFrom(item))
}

function withoutWriter({ writer: _writer, ...review }: LeaseItem): Review {
  return review
}
