/** A review: one lens over one part of the diff, inside a run; the unit of dispatch, lease and retry. */
import type { LensName } from '../findings/lens.ts'
import type { Reason, Repository } from './run.ts'

/** `planned` has no item yet, or an item taken back without a token. */
export type ReviewState = 'planned' | 'waiting' | 'granted' | 'leased' | 'completed' | 'failed' | 'ended'

/** `adjudication` is a review too: the second reading of blocking findings. */
export type ReviewLens = LensName | 'adjudication'

export interface ReviewName {
  readonly runId: string
  readonly planKey: string
  readonly lens: ReviewLens
  readonly part: number
}

export interface Review extends ReviewName {
  /** The attempt of its run; later attempts reuse a completed review. */
  readonly attempt: number
  readonly state: ReviewState
  /** Raised by every take-back and ending, never lowered. */
  readonly epoch: number
  /** The number of take-backs in this attempt; absent for none. */
  readonly losses?: number
  /** ms UTC of the first throttle by the model in this attempt; absent for none. */
  readonly throttledSince?: number
  /** The invocation with the lease, or with the completion. */
  readonly owner?: string
  /** ms UTC: end of the grant or of the lease. */
  readonly until?: number
  /** Unanswered task tokens of Admit, as task-tokens.ts joins them. */
  readonly token?: string
  readonly repository: Repository
  readonly pool: string
  /** Order among waiting reviews, smallest first; ms UTC. */
  readonly turn: number
  /** Document digest of the result. */
  readonly result?: string
  readonly findings?: number
  readonly blocking?: number
  readonly reason?: Reason
}

/** A review's name as text, for Step Functions, slots and tickets. */
export function reviewIdOf(name: ReviewName): string {
  return `${name.runId}/${name.planKey}/${name.lens}/${name.part}`
}

/** Inverse of `reviewIdOf`; undefined for any other text. */
export function parseReviewId(id: string): ReviewName | undefined {
  const match = /^([0-9a-f]{64})\/([0-9a-f]{64})\/([a-z_]{1,40})\/(\d{1,4})$/.exec(id)
  if (!match) return undefined
  const [, runId = '', planKey = '', lens = '', part = ''] = match
  return { runId, planKey, lens: lens as ReviewLens, part: Number(part) }
}

/** True if the review is over in its attempt. */
export function isDone(state: ReviewState): boolean {
  return state === 'completed' || state === 'failed' || state === 'ended'
}
