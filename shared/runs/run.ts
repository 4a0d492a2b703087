/** A run: one review of one pull request for one cause. Its states, and what a delivery does to one that exists. */
import * as z from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import { DELIVERIES_KEPT } from '../base/limits.ts'
import { membersOf, only, openWord, type Stored, without } from '../base/schema.ts'

/** Why a run didn't end as reviewed, or a review failed: a stable code and a sentence. */
export const reasonSchema = z.object({ code: openWord<ErrorCode>(), sentence: z.string() })
export type Reason = Stored<typeof reasonSchema>

export const repositorySchema = z.object({
  id: z.number(),
  owner: z.string(),
  name: z.string(),
  installationId: z.number(),
})
export type Repository = Stored<typeof repositorySchema>

/** `full` is a round; `analyzers` updates the summary and the check run, and is none. */
export const runKindSchema = z.enum(['full', 'analyzers'])

/** What an accepted webhook asks for. */
const runRequestSchema = z.object({
  runId: z.string(),
  repository: repositorySchema,
  number: z.number(),
  cause: z.string(),
  kind: runKindSchema,
  head: z.string(),
  baseRef: z.string(),
  /** Opened, reopened or retargeted: the rounds are counted anew. */
  opensSeries: z.boolean(),
  /** The event's `updated_at`, ms UTC: orders events of one pull request. */
  eventAt: z.number(),
  /** Digest of the payload's meaning; the same id with another digest is a conflict (LE15). */
  payloadDigest: z.string(),
  /** A person asked for it and waits: its reviews get an earlier turn. */
  askedBy: z.literal('person').exactOptional(),
  /** What that person wants looked at above all; part of what is said, and so of the plan key. */
  focus: z.string().exactOptional(),
})
export type RunRequest = Stored<typeof runRequestSchema>
const OF_REQUEST = membersOf(runRequestSchema.shape)

/** What a run knows of its attempt: none of it is taken over into the next one. */
const ofAttempt = {
  /** How the run ended. */
  outcome: z.enum(['reviewed', 'superseded', 'closed', 'cancelled', 'failed']).exactOptional(),
  reason: reasonSchema.exactOptional(),
  verdict: z.string().exactOptional(),
  /** Task tokens of Conclude, until they are answered: task-tokens.ts. */
  token: z.string().exactOptional(),
  /** Document digest of the plan. */
  plan: z.string().exactOptional(),
  planKey: z.string().exactOptional(),
  /** What its lenses compete for, by lens; one that isn't named asks no model. */
  pools: z.record(z.string(), z.string()).exactOptional(),
  /** Reviews of it wait for a model that is throttled, and its check run says so. */
  parked: z.object({ pool: z.string(), since: z.number() }).exactOptional(),
  /** Asked for while the run was ending: its next attempt, which begins when this one has ended. */
  askedAgain: runRequestSchema.exactOptional(),
}
export const OF_ATTEMPT = membersOf(ofAttempt)

export const runSchema = z.object({
  ...runRequestSchema.shape,
  ...ofAttempt,
  attempt: z.number(),
  /**
   * accepted → running → concluded → ended is the way of a run that is reviewed. `ending` is the one way out for
   * supersede, cancel, close and failure; `held` waits for a halt to be lifted.
   */
  state: z.enum(['accepted', 'running', 'concluded', 'held', 'ending', 'ended']),
  /** ms UTC; the turn of its reviews is counted from here. */
  acceptedAt: z.number(),
  /** Delivery ids that this run has answered, newest last. */
  deliveries: z.array(z.string()),
  /** Document digest and plan key of the last conclusion, kept over attempts: the same key is shown again. */
  conclusion: z.string().exactOptional(),
  concludedPlanKey: z.string().exactOptional(),
  /** False if a lens that was placed failed: a verdict with that plan key is then made again, with what is missing. */
  concludedWhole: z.boolean().exactOptional(),
  /** Runs that wait until this one has ended: they are woken then. */
  awaitedBy: z.array(z.string()).exactOptional(),
  version: z.number(),
})
export type Run = Stored<typeof runSchema>
export type RunState = Run['state']
export type RunOutcome = NonNullable<Run['outcome']>

/** What a delivery means for a run that exists already. */
export type DeliveryMeaning = 'replay' | 'join' | 'raise' | 'raise_when_ended' | 'conflict'

/**
 * Pure. A known delivery is a replay whatever the run's state (IL15); a new one joins a live run, and asks an ended one
 * for another attempt, which shows a verdict with the same plan key again instead of making it again (LE1, LE16, D5, PR4).
 * One that is ending gets its next attempt when it has ended: what is left of this one must be settled first.
 */
export function meaningOf(run: Run, request: RunRequest, deliveryId: string): DeliveryMeaning {
  if (run.payloadDigest !== request.payloadDigest) return 'conflict'
  if (run.deliveries.includes(deliveryId)) return 'replay'
  if (run.state === 'ending') return 'raise_when_ended'
  return run.state === 'ended' ? 'raise' : 'join'
}

/** The request that made a run's attempt, asked once more. A series that it has opened and planned for isn't opened again. */
export function requestAgain(run: Run): RunRequest {
  return { ...only(run, OF_REQUEST), opensSeries: run.opensSeries && run.plan === undefined }
}

/** The later of two requests for the same run; it opens a series if either does. */
export function laterOf(earlier: RunRequest | undefined, request: RunRequest): RunRequest {
  if (!earlier) return request
  const opensSeries = earlier.opensSeries || request.opensSeries
  return { ...(earlier.eventAt > request.eventAt ? earlier : request), opensSeries }
}

/**
 * The next attempt of a run, for that request. Its event never gets earlier: who asks late, by a delivery that comes again or
 * a command that waited, would else have it ended by a closing that its reopening came after (D3).
 */
export function raisedRun(run: Run, request: RunRequest, deliveries: readonly string[], now: number): Run {
  return {
    ...without(run, OF_ATTEMPT),
    ...request,
    eventAt: Math.max(run.eventAt, request.eventAt),
    attempt: run.attempt + 1,
    state: 'accepted',
    acceptedAt: now,
    deliveries,
    version: run.version + 1,
  }
}

/** False for a run that is over and read everything: another attempt would only show it again. */
export function isWorthAnotherAttempt(run: Run): boolean {
  if (run.state !== 'ended' || run.outcome !== 'reviewed') return true
  return run.concludedWhole === false || run.verdict === 'incomplete'
}

/** The delivery ids with one more, the oldest dropped beyond the limit. */
export function remember(deliveries: readonly string[], deliveryId: string): string[] {
  return [...deliveries.filter((known) => known !== deliveryId), deliveryId].slice(-DELIVERIES_KEPT)
}

/** True while a run may still change what GitHub shows. */
export function isLive(state: RunState): boolean {
  return state !== 'ended' && state !== 'ending'
}
