/** A run: one review of one pull request for one cause. Its states, and the effect of a delivery on an existing run. */
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

/** The request of an accepted webhook. */
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
  /** A person asked for the run and waits: its reviews get an earlier turn. */
  askedBy: z.literal('person').exactOptional(),
  /** The subject that the review should examine most; part of the plan key. */
  focus: z.string().exactOptional(),
})
export type RunRequest = Stored<typeof runRequestSchema>
const OF_REQUEST = membersOf(runRequestSchema.shape)

/** The members of a run's attempt: the next attempt begins without them. */
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
  /** The pools of the lenses; a lens without a pool asks no model. */
  pools: z.record(z.string(), z.string()).exactOptional(),
  /** Some reviews wait for a throttled model, and the check run says so. */
  parked: z.object({ pool: z.string(), since: z.number() }).exactOptional(),
  /** The request for the next attempt, received while the run was ending; the attempt begins after the end. */
  askedAgain: runRequestSchema.exactOptional(),
}
export const OF_ATTEMPT = membersOf(ofAttempt)

export const runSchema = z.object({
  ...runRequestSchema.shape,
  ...ofAttempt,
  attempt: z.number(),
  /**
   * accepted → running → concluded → ended is the way of a reviewed run. `ending` is the only way out for supersede,
   * cancel, close and failure; `held` waits for the end of a halt.
   */
  state: z.enum(['accepted', 'running', 'concluded', 'held', 'ending', 'ended']),
  /** ms UTC; the turn of the run's reviews is counted from here. */
  acceptedAt: z.number(),
  /** Ids of answered deliveries, newest last. */
  deliveries: z.array(z.string()),
  /** Document digest and plan key of the last conclusion, kept over attempts: the same key is shown again. */
  conclusion: z.string().exactOptional(),
  concludedPlanKey: z.string().exactOptional(),
  /** False if a placed lens failed: another verdict with the same plan key then reads the missing reviews. */
  concludedWhole: z.boolean().exactOptional(),
  /** Runs waiting for the end of this run, to be woken then. */
  awaitedBy: z.array(z.string()).exactOptional(),
  version: z.number(),
})
export type Run = Stored<typeof runSchema>
export type RunState = Run['state']
export type RunOutcome = NonNullable<Run['outcome']>

/** The effect of a delivery on an existing run. */
export type DeliveryMeaning = 'replay' | 'join' | 'raise' | 'raise_when_ended' | 'conflict'

/**
 * Pure. A known delivery is a replay in any state of the run (IL15). A new delivery joins a live run, and asks an ended run for
 * another attempt, which shows a verdict with the same plan key again instead of a new verdict (LE1, LE16, D5, PR4). An ending
 * run gets its next attempt after its end: the remains of the present attempt must be settled first.
 */
export function meaningOf(run: Run, request: RunRequest, deliveryId: string): DeliveryMeaning {
  if (run.payloadDigest !== request.payloadDigest) return 'conflict'
  if (run.deliveries.includes(deliveryId)) return 'replay'
  if (run.state === 'ending') return 'raise_when_ended'
  return run.state === 'ended' ? 'raise' : 'join'
}

/** The request of a run's attempt, repeated. A series already opened and planned for is not opened again. */
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
 * The next attempt of a run, for a request. The attempt's event never gets earlier: a late request, by a repeated
 * delivery or a delayed command, would otherwise let a closing end the run, though the pull request was reopened after
 * that closing (D3).
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

/** False for an ended run that read everything: another attempt would only show the same verdict again. */
export function isWorthAnotherAttempt(run: Run): boolean {
  if (run.state !== 'ended' || run.outcome !== 'reviewed') return true
  return run.concludedWhole === false || run.verdict === 'incomplete'
}

/** The delivery ids plus a new id, without the oldest beyond the limit. */
export function remember(deliveries: readonly string[], deliveryId: string): string[] {
  return [...deliveries.filter((known) => known !== deliveryId), deliveryId].slice(-DELIVERIES_KEPT)
}

/** True while a run may still change GitHub. */
export function isLive(state: RunState): boolean {
  return state !== 'ended' && state !== 'ending'
}
