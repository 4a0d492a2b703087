/**
 * The lease of a review as data. Each step is a condition and a change of the review's item, and the meaning of the item after
 * a refused or unanswered write. Pure; shared/ledger carries the steps out. Safety comes from the fence (owner, epoch) alone. A
 * clock says when to look again, and when a lease has ended; Lambda may report a worker's death before. An error of either
 * costs work, never a result (AW37, AW41).
 */
import type { ErrorCode } from '../base/errors.ts'
import { REVIEW_LOSSES_MAX } from '../base/limits.ts'
import { isDone, type Review } from '../runs/review.ts'
import type { Reason } from '../runs/run.ts'

/** The fence of a worker: its own name, unique for ever, and the epoch of its grant. */
export interface Fence {
  readonly epoch: number
  readonly owner: string
}

/** A review as its item holds it, with the nonce of its creation, last take-back or last release. */
export type LeaseItem = Review & { readonly writer?: string }

/** The outcome of a write. `unknown`: the item shows neither success nor refusal, and the write is repeated. */
export type Answered =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly code: Refusal }
  | { readonly kind: 'unknown' }

export type Refusal = 'stale_fence' | Extract<ErrorCode, 'lease_held' | 'outcome_conflict'>

/** One conditional write of a review's item. */
export interface LeaseStep {
  readonly set: Partial<LeaseItem>
  readonly remove: readonly (keyof LeaseItem)[]
  /** Members that must be equal; `undefined` means "must be absent". */
  readonly if: Partial<Record<keyof LeaseItem, unknown>>
  /** ms UTC when the item is looked at next; absent: as before. */
  readonly recheckAt?: number | 'never'
  /** The meaning of the item, as read when the write was refused, or after an unanswered write. */
  answerOf(item: LeaseItem | undefined): Answered
}

const DONE: Answered = { kind: 'done' }
const UNKNOWN: Answered = { kind: 'unknown' }
const STALE: Answered = { kind: 'refused', code: 'stale_fence' }

/** A worker's outcome of a review: a stored result, or the reason for none. */
export type ReviewOutcome =
  | { readonly state: 'completed'; readonly result: string; readonly findings: number; readonly blocking: number }
  | { readonly state: 'failed'; readonly reason: Reason }

/**
 * Takes the lease of a granted review. Its token goes: every token written so far was answered by the grant, and every later
 * token waits for the end of the lease.
 */
export function acquire(fence: Fence, until: number): LeaseStep {
  return {
    set: { state: 'leased', owner: fence.owner, until },
    remove: ['token'],
    if: { state: 'granted', epoch: fence.epoch },
    recheckAt: until,
    answerOf(item) {
      if (item?.epoch !== fence.epoch) return STALE
      if (item.state === 'granted') return UNKNOWN
      if (item.state !== 'leased') return STALE
      return item.owner === fence.owner ? DONE : { kind: 'refused', code: 'lease_held' }
    },
  }
}

/** Moves the end of a lease, without a condition on version or clock: a worker not replaced may renew late. */
export function renew(fence: Fence, until: number): LeaseStep {
  return {
    set: { until },
    remove: [],
    if: { state: 'leased', ...fenceOf(fence) },
    recheckAt: until,
    answerOf(item) {
      if (!holds(item, fence)) return STALE
      return (item?.until ?? 0) >= until ? DONE : UNKNOWN
    },
  }
}

/**
 * Completes a leased review. `token` is the token of a repeated Admit, as read from the item: the token stays, and the review
 * stays due, until the answer. The same content again is `done`, other content `outcome_conflict` (RC2, RC3).
 */
export function complete(fence: Fence, outcome: ReviewOutcome, token: string | undefined): LeaseStep {
  return {
    set: { ...outcome },
    remove: ['until'],
    if: { state: 'leased', ...fenceOf(fence), token },
    ...(token === undefined ? { recheckAt: 'never' } : {}),
    answerOf(item) {
      if (holds(item, fence)) return UNKNOWN
      if (item?.epoch !== fence.epoch || item.owner !== fence.owner || !isDone(item.state)) return STALE
      return isSame(item, outcome) ? DONE : { kind: 'refused', code: 'outcome_conflict' }
    },
  }
}

/** Gives a lease back without a result, at the next epoch: the review waits again if a token does. No loss is counted. */
export function release(
  fence: Fence,
  token: string | undefined,
  recheckAt: number,
  kept: Pick<Review, 'throttledSince'> = {},
): LeaseStep {
  return {
    set: { state: token === undefined ? 'planned' : 'waiting', epoch: fence.epoch + 1, writer: fence.owner, ...kept },
    remove: ['owner', 'until'],
    if: { state: 'leased', ...fenceOf(fence), token },
    recheckAt: token === undefined ? 'never' : recheckAt,
    answerOf(item) {
      if (holds(item, fence)) return UNKNOWN
      return item?.epoch === fence.epoch + 1 && item.writer === fence.owner ? DONE : STALE
    },
  }
}

/** A crashed worker as reported by Step Functions: the epoch of the call, and Lambda's own words. */
export interface LostWorker {
  readonly epoch: number
  readonly cause: string
}

/**
 * True if the crash proves that no worker reads the review: Lambda names the dead invocation, and it holds the lease; or the
 * worker of the very grant died before its lease. A crash of another epoch proves nothing.
 */
export function isLost(review: Review, lost: LostWorker): boolean {
  if (review.epoch !== lost.epoch) return false
  if (review.state === 'granted') return true
  return review.state === 'leased' && review.owner !== undefined && lost.cause.includes(review.owner)
}

/**
 * Takes back a review, as read in `review`, whose grant or lease ended before `now`, or whose worker is `lost`; undefined
 * otherwise. The only step with a clock. At the next epoch the review waits again if a token does; after the last loss it has
 * failed, and stays due until its task is told. `writer` is a nonce: a repeated write recognises its own first try.
 */
export function takeBack(
  review: Review,
  options: { readonly now: number; readonly writer: string; readonly recheckAt: number; readonly lost?: LostWorker },
): LeaseStep | undefined {
  const { state, epoch, until, token, owner } = review
  if (state !== 'granted' && state !== 'leased') return undefined
  const hasEnded = (until ?? 0) < options.now
  if (!hasEnded && !(options.lost && isLost(review, options.lost))) return undefined
  const asRead = { state, epoch, until, token, owner }
  const isAsRead = (item: LeaseItem) =>
    Object.entries(asRead).every(([member, value]) => item[member as keyof typeof asRead] === value)
  const losses = (review.losses ?? 0) + 1
  const givenUp = losses >= REVIEW_LOSSES_MAX
  const reason: Reason = { code: 'lease_lost_too_often', sentence: `Its worker was lost ${losses} times.` }
  return {
    set: {
      state: givenUp ? 'failed' : token === undefined ? 'planned' : 'waiting',
      epoch: epoch + 1,
      losses,
      writer: options.writer,
      ...(givenUp ? { reason } : {}),
    },
    remove: ['owner', 'until'],
    if: asRead,
    recheckAt: token === undefined ? 'never' : options.recheckAt,
    answerOf(item) {
      if (item?.epoch === epoch + 1 && item.writer === options.writer) return DONE
      return item && isAsRead(item) ? UNKNOWN : STALE
    },
  }
}

/** The item after a done step. */
export function after(item: LeaseItem, step: LeaseStep): LeaseItem {
  const removed = new Set<string>(step.remove)
  const kept = Object.entries(item).filter(([member]) => !removed.has(member))
  // A step removes optional members only, so the kept members are still an item.
  return { ...(Object.fromEntries(kept) as unknown as LeaseItem), ...step.set }
}

function fenceOf({ epoch, owner }: Fence) {
  return { epoch, owner }
}

function holds(item: LeaseItem | undefined, fence: Fence): boolean {
  return item?.state === 'leased' && item.epoch === fence.epoch && item.owner === fence.owner
}

function isSame(item: LeaseItem, outcome: ReviewOutcome): boolean {
  if (item.state !== outcome.state) return false
  return outcome.state === 'completed' ? item.result === outcome.result : item.reason?.code === outcome.reason.code
}
