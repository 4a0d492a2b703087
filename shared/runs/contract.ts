/** The data carried by Step Functions between rooms: identifiers and small numbers, never content. Checked by every room. */
import * as z from 'zod'
import { Refused } from '../base/errors.ts'
import { CONTRACT, CRASH_CAUSE_CHARS_MAX } from '../base/limits.ts'
import { parseReviewId, type ReviewName } from './review.ts'

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/)
const identity = {
  /** A function accepts its own contract and the previous version: live executions survive a deploy. */
  contract: z
    .number()
    .int()
    .min(CONTRACT - 1)
    .max(CONTRACT),
  runId: sha256Hex,
  attempt: z.number().int().positive(),
}
const token = z.string().min(1).max(2_048) // Step Functions: at most 2,048 characters
const review = z.string().min(1).max(300)

/** `startedAt`, the beginning of the execution, is absent in executions of older deployments. */
export const planInput = z.object({
  ...identity,
  execution: z.string().min(1),
  startedAt: z.iso.datetime().optional(),
})
/** A crashed worker, as known to the machine; before the first crash its epoch is 0, which no review has. */
const lost = z.object({ epoch: z.number().int().min(0), cause: z.string().max(CRASH_CAUSE_CHARS_MAX) })

/** `lost` is absent in executions of older deployments. */
export const admitInput = z.object({ ...identity, review, token, lost: lost.optional() })
export const reviewInput = z.object({ ...identity, review, epoch: z.number().int().positive() })
export const concludeInput = z.object({ ...identity, token })

const pullRequest = {
  contract: identity.contract,
  repositoryId: z.number().int().positive(),
  number: z.number().int().positive(),
}
/** A nudge of post. The run names the messages and the check run to look at. */
export const outboxNudge = z.object({ ...pullRequest, runId: sha256Hex })
/** A nudge of command. */
export const inboxNudge = z.object({ ...pullRequest, cause: z.string().min(1).max(300) })
export type Nudge = z.infer<typeof outboxNudge> | z.infer<typeof inboxNudge>

/** The answer of plan to the state machine. */
export interface PlanAnswer {
  /** `wait`: GitHub takes no call of this installation for now. */
  readonly outcome: 'planned' | 'shown' | 'superseded' | 'held' | 'failed' | 'replay' | 'wait'
  /** The Map's MaxConcurrency: the fleet's effective ceiling when the run was planned, at least 1. */
  readonly ceiling: number
  /** Review ids, at most PLAN_REVIEWS_MAX. */
  readonly reviews: readonly string[]
  readonly adjudication: string
}

/** The answer of review to the state machine. */
export interface ReviewAnswer {
  /** `parked`: the model is throttled, and the review waits again: the machine goes back to Admit. */
  readonly outcome: 'completed' | 'failed' | 'ended' | 'held' | 'parked'
  readonly findings: number
  readonly blocking: number
}

/** The input as `schema` describes it; throws Refused `contract_unknown` for any other input, naming the member. */
export function inputOf<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new Refused(
    'contract_unknown',
    `The input's ${parsed.error.issues[0]?.path.join('.') || 'root'} does not fit the contract of this version.`,
    'Let executions end before a deploy that skips a version, or start the run again.',
  )
}

/** The name of an input's review; throws Refused `unknown_review` unless the review is of the input's run (RC1). */
export function reviewNameIn({ runId, review }: { readonly runId: string; readonly review: string }): ReviewName {
  const name = parseReviewId(review)
  if (name?.runId === runId) return name
  throw new Refused('unknown_review', 'The review is not one of this run.', 'Start the run again.')
}
