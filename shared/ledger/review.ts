/** Reviews in the ledger: waiting, granted, leased, done. Every write checks the epoch; none of a stale one has an effect (I8). */
import { REVIEW_LOSSES_MAX } from '../limits.ts'
import { isDone, type Review, type ReviewName, reviewIdOf } from '../review.ts'
import type { Reason } from '../run.ts'
import { change, contended, create, due, type Item, keyOf, type Ledger, read, readPrefix } from './table.ts'

/** Review items a run can have over its attempts and plan keys; reading stops there. */
const REVIEWS_PER_RUN_MAX = 400

/** What a review knows of an attempt, and doesn't take over into the next one. */
const OF_EARLIER_ATTEMPT = ['owner', 'until', 'losses', 'result', 'findings', 'blocking', 'reason'] as const

/** One review; undefined if nobody has asked for it yet (`planned`). */
export async function readReview(ledger: Ledger, name: ReviewName): Promise<Review | undefined> {
  const item = await read<Item>(ledger, keyOf.review(name))
  return item && reviewFrom(item)
}

/** The reviews of a run's plan key; all of the run's if no key is given. */
export async function readReviews(ledger: Ledger, runId: string, planKey?: string): Promise<Review[]> {
  const items = await readPrefix<Item>(
    ledger,
    `RUN#${runId}`,
    planKey === undefined ? 'REVIEW#' : `REVIEW#${planKey}#`,
    REVIEWS_PER_RUN_MAX,
  )
  return items.map(reviewFrom)
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
    const next: Review = newAttempt
      ? { ...wanted, state: 'waiting', epoch: current.epoch + 1 }
      : { ...current, token: wanted.token, state: restarts ? 'waiting' : current.state }
    const written = await change(ledger, key, {
      set: restarts ? { ...next, ...due(key, options.now + ledger.timings.grantMs) } : { token: wanted.token },
      ...(newAttempt ? { remove: OF_EARLIER_ATTEMPT } : {}),
      if: { state: current.state, epoch: current.epoch, attempt: current.attempt },
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
  const current = await readReview(ledger, ticket.name)
  if (!current || current.epoch !== ticket.epoch) return undefined
  if (written.done) return current
  return current.state === 'granted' || current.state === 'leased' ? current : undefined
}

/** Removes a task token that was answered, or is dead, if it is still that one. */
export async function dropToken(ledger: Ledger, name: ReviewName, token: string): Promise<void> {
  await change(ledger, keyOf.review(name), { remove: ['token'], if: { token } })
}

/** What taking a lease came to. */
export type Leased =
  | { readonly kind: 'leased'; readonly review: Review }
  | { readonly kind: 'held' }
  | { readonly kind: 'stale' }

/** Takes the lease of a granted review at this epoch, in the worker's own name. */
export async function leaseReview(
  ledger: Ledger,
  name: ReviewName,
  lease: { epoch: number; owner: string; now: number },
): Promise<Leased> {
  const key = keyOf.review(name)
  const until = lease.now + ledger.timings.reviewLeaseMs
  const members = { state: 'leased', owner: lease.owner, until, ...due(key, until) } as const
  // Every token written so far has been answered by who granted; one written from here on waits for this lease's end.
  await change(ledger, key, { set: members, remove: ['token'], if: { state: 'granted', epoch: lease.epoch } })
  // Read back whatever the write answered: the refusal may be the answer to our own first try.
  const current = await readReview(ledger, name)
  if (!current || current.epoch !== lease.epoch) return { kind: 'stale' }
  if (current.state === 'leased')
    return current.owner === lease.owner ? { kind: 'leased', review: current } : { kind: 'held' }
  return { kind: 'stale' }
}

/** Renews the lease; false means that it is lost. Checks owner, epoch and state, neither version nor clock. */
export async function renewLease(
  ledger: Ledger,
  name: ReviewName,
  lease: { epoch: number; owner: string; now: number },
  signal: AbortSignal,
): Promise<boolean> {
  const key = keyOf.review(name)
  const until = lease.now + ledger.timings.reviewLeaseMs
  const written = await change(
    ledger,
    key,
    { set: { until, ...due(key, until) }, if: { state: 'leased', epoch: lease.epoch, owner: lease.owner } },
    signal,
  )
  return written.done
}

/**
 * What completing came to. `token` is that of an Admit that came again meanwhile: it is to be answered, then dropped. It
 * stays on the review until then, so that a replay answers it too.
 */
export interface Completed {
  readonly kind: 'completed' | 'replay' | 'outcome_conflict' | 'stale'
  readonly token?: string
}

/** Completes a leased review with what its lens said, or why it failed. Twice with the same content is a replay (RC2, RC3). */
export async function completeReview(
  ledger: Ledger,
  name: ReviewName,
  lease: { epoch: number; owner: string },
  outcome:
    | { state: 'completed'; result: string; findings: number; blocking: number }
    | { state: 'failed'; reason: Reason },
): Promise<Completed> {
  const written = await change(ledger, keyOf.review(name), {
    set: { ...outcome },
    remove: ['duePk', 'dueAt', 'until'],
    if: { state: 'leased', epoch: lease.epoch, owner: lease.owner },
  })
  if (written.done) return { kind: 'completed', ...tokenOf(written.before) }
  const current = await readReview(ledger, name)
  if (current?.epoch !== lease.epoch || current.owner !== lease.owner || !isDone(current.state))
    return { kind: 'stale' }
  const same = outcome.state === 'completed' ? current.result === outcome.result : current.state === 'failed'
  return same ? { kind: 'replay', ...tokenOf({ ...current }) } : { kind: 'outcome_conflict' }
}

function tokenOf(item: Item | undefined): { token?: string } {
  return typeof item?.token === 'string' ? { token: item.token } : {}
}

/** What taking back came to: the review as it is now, and whether this call took it back. */
export interface TakenBack {
  readonly taken: boolean
  readonly review: Review
}

/** Takes a review back whose grant or lease ended before `now`: epoch + 1; waiting if it still has a token, else planned. */
export async function takeBack(ledger: Ledger, review: Review, now: number): Promise<TakenBack> {
  const expired = (review.state === 'granted' || review.state === 'leased') && (review.until ?? 0) < now
  if (!expired) return { taken: false, review }
  const key = keyOf.review(review)
  const epoch = review.epoch + 1
  const losses = (review.losses ?? 0) + 1
  const givenUp = losses >= REVIEW_LOSSES_MAX
  const state = givenUp ? 'failed' : review.token === undefined ? 'planned' : 'waiting'
  const reason: Reason | undefined = givenUp
    ? { code: 'lease_lost_too_often', sentence: `Its worker was lost ${losses} times.` }
    : undefined
  const written = await change(ledger, key, {
    set: { state, epoch, losses, reason, ...(state === 'waiting' ? due(key, now + ledger.timings.grantMs) : {}) },
    remove: ['owner', 'until', ...(state === 'waiting' ? [] : ['duePk', 'dueAt'])],
    if: { state: review.state, epoch: review.epoch, until: review.until, token: review.token },
  })
  const { owner: _owner, until: _until, ...kept } = review
  return written.done
    ? { taken: true, review: { ...kept, state, epoch, losses, ...(reason ? { reason } : {}) } }
    : { taken: false, review }
}

/**
 * Ends a review that isn't done, for this attempt only (IL11): its epoch is raised, so no write of its worker counts.
 * Answers the token of the task that waits for it, which is to be told; undefined if none does.
 */
export async function endReview(ledger: Ledger, review: Review): Promise<string | undefined> {
  if (isDone(review.state)) return undefined
  return contended(async () => {
    const current = await readReview(ledger, review)
    if (!current || current.attempt !== review.attempt || isDone(current.state)) return undefined
    const written = await change(ledger, keyOf.review(review), {
      set: { state: 'ended', epoch: current.epoch + 1 },
      remove: ['duePk', 'dueAt', 'until', 'owner', 'token'],
      if: { state: current.state, epoch: current.epoch, attempt: review.attempt },
    })
    return written.done ? current.token : 'again'
  })
}

/** The ticket of a waiting review, as it stands in its queue. */
export function ticketOf(review: Review) {
  return {
    reviewId: reviewIdOf(review),
    epoch: review.epoch,
    repository: review.repository.id,
    pool: review.pool,
    turn: review.turn,
  }
}

function reviewFrom(item: Item): Review {
  const { pk: _pk, sk: _sk, writer: _writer, duePk: _duePk, dueAt: _dueAt, ...review } = item
  return review as unknown as Review
}
