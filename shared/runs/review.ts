/** A review: one lens over one part of the diff, inside a run; the unit that is dispatched, leased and retried. */
import type { LensName } from '../findings/lens.ts'
import type { Reason, Repository } from './run.ts'

/** `planned` has no item yet, or one that was taken back without a token. */
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
  /** Attempt of the run that it works for; a completed one is reused by later attempts. */
  readonly attempt: number
  readonly state: ReviewState
  /** Raised by every take-back and ending, never lowered. */
  readonly epoch: number
  /** How often it was taken back in this attempt; absent for never. */
  readonly losses?: number
  /** ms UTC: when its model was first throttled for it in this attempt; absent if it never was. */
  readonly throttledSince?: number
  /** The invocation that holds the lease, or that completed it. */
  readonly owner?: string
  /** ms UTC: end of the grant or of the lease. */
  readonly until?: number
  /** Task tokens of Admit, until they are answered: task-token.ts. */
  readonly token?: string
  readonly repository: Repository
  readonly pool: string
  /** Order among waiting reviews, smallest first; ms UTC. */
  readonly turn: number
  /** Document digest of what the lens said. */
  readonly result?: string
  readonly findings?: number
  readonly blocking?: number
  readonly reason?: Reason
}

/** A review's name as one text, as it travels through Step Functions and stands in slots and tickets. */
export function reviewIdOf(name: ReviewName): string {
  return `${name.runId}/${name.planKey}/${name.lens}/${name.part}`
}

/** Inverse of `reviewIdOf`; undefined if the text is none. */
export function parseReviewId(id: string): ReviewName | undefined {
  const match = /^([0-9a-f]{64})\/([0-9a-f]{64})\/([a-z_]{1,40})\/(\d{1,4})$/.exec(id)
  if (!match) return undefined
  const [, runId = '', planKey = '', lens = '', part = ''] = match
  return { runId, planKey, lens: lens as ReviewLens, part: Number(part) }
}

/** True if nothing more will happen to the review in its attempt. */
export function isDone(state: ReviewState): boolean {
  return state === 'completed' || state === 'failed' || state === 'ended'
}
