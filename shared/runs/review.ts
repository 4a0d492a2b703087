/** A review: one lens over one part of the diff, inside a run; the unit of dispatch, lease and retry. */
import * as z from 'zod'
import { membersOf, openWord, type Stored } from '../base/schema.ts'
import type { LensName } from '../findings/lens.ts'
import { reasonSchema, repositorySchema } from './run.ts'

/** `adjudication` is a review too: the second reading of blocking findings. */
export type ReviewLens = LensName | 'adjudication'
export const reviewLensSchema = openWord<ReviewLens>()

const name = { runId: z.string(), planKey: z.string(), lens: reviewLensSchema, part: z.number() }
export type ReviewName = Pick<Review, keyof typeof name>

/** The members of a review's attempt: the next attempt begins without them. */
const ofAttempt = {
  /** The invocation with the lease, or with the completion. */
  owner: z.string().exactOptional(),
  /** ms UTC: end of the grant or of the lease. */
  until: z.number().exactOptional(),
  /** How often it was taken back; absent for never. */
  losses: z.number().exactOptional(),
  /** The time of the model's first throttle for this review, ms UTC; absent without a throttle. */
  throttledSince: z.number().exactOptional(),
  /** Document digest of the result. */
  result: z.string().exactOptional(),
  findings: z.number().exactOptional(),
  blocking: z.number().exactOptional(),
  reason: reasonSchema.exactOptional(),
}
export const OF_REVIEWS_ATTEMPT = membersOf(ofAttempt)

export const reviewSchema = z.object({
  ...name,
  ...ofAttempt,
  /** The attempt of its run; later attempts reuse a completed review. */
  attempt: z.number(),
  /** `planned` has no item yet, or an item taken back without a token. */
  state: z.enum(['planned', 'waiting', 'granted', 'leased', 'completed', 'failed', 'ended']),
  /** Raised by every take-back and ending, never lowered. */
  epoch: z.number(),
  /** Task tokens of Admit, until they are answered: task-tokens.ts. */
  token: z.string().exactOptional(),
  repository: repositorySchema,
  pool: z.string(),
  /** Order among waiting reviews, smallest first; ms UTC. */
  turn: z.number(),
})
export type Review = Stored<typeof reviewSchema>
export type ReviewState = Review['state']

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
