/** A run: one review of one pull request for one cause. Its states, and the effect of a delivery on an existing run. */
import type { ErrorCode } from '../base/errors.ts'
import { DELIVERIES_KEPT } from '../base/limits.ts'

/**
 * accepted → running → concluded → ended is the way of a reviewed run. `ending` is the only way out for supersede, cancel,
 * close and failure; `held` waits for the end of a halt.
 */
export type RunState = 'accepted' | 'running' | 'concluded' | 'held' | 'ending' | 'ended'

/** How a run ended. */
export type RunOutcome = 'reviewed' | 'superseded' | 'closed' | 'cancelled' | 'failed'

/** Why a run ended unreviewed: a stable token and a sentence. */
export interface Reason {
  readonly code: ErrorCode
  readonly sentence: string
}

export interface Repository {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly installationId: number
}

/** The request of an accepted webhook. */
export interface RunRequest {
  readonly runId: string
  readonly repository: Repository
  readonly number: number
  readonly cause: string
  readonly kind: 'full' | 'analyzers'
  readonly head: string
  readonly baseRef: string
  /** Opened, reopened or retargeted: the rounds are counted anew. */
  readonly opensSeries: boolean
  /** The event's `updated_at`, ms UTC: orders events of one pull request. */
  readonly eventAt: number
  /** Digest of the payload's meaning; the same id with another digest is a conflict (LE15). */
  readonly payloadDigest: string
  /** A person asked for the run and waits: its reviews get an earlier turn. */
  readonly askedBy?: 'person'
  /** The subject that the review should examine most; part of the plan key. */
  readonly focus?: string
}

export interface Run extends RunRequest {
  readonly attempt: number
  readonly state: RunState
  readonly outcome?: RunOutcome
  readonly reason?: Reason
  readonly verdict?: string
  /** ms UTC; the turn of the run's reviews is counted from here. */
  readonly acceptedAt: number
  /** Ids of answered deliveries, newest last. */
  readonly deliveries: readonly string[]
  /** Document digest of the plan of the present attempt. */
  readonly plan?: string
  readonly planKey?: string
  /** The pools of the lenses; a lens without a pool asks no model. */
  readonly pools?: Readonly<Record<string, string>>
  /** Some reviews wait for a throttled model, and the check run says so. */
  readonly parked?: { readonly pool: string; readonly since: number }
  /** Document digest and plan key of the last conclusion, kept over attempts: the same key is shown again. */
  readonly conclusion?: string
  readonly concludedPlanKey?: string
  /** False if a placed lens failed: another verdict with the same plan key then reads the missing reviews. */
  readonly concludedWhole?: boolean
  /** Unanswered task tokens of Conclude, as task-tokens.ts joins them. */
  readonly token?: string
  /** Runs waiting for the end of this run, to be woken then. */
  readonly awaitedBy?: readonly string[]
  /** The request for the next attempt, received while the run was ending; the attempt begins after the end. */
  readonly askedAgain?: RunRequest
  readonly version: number
}

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
  const { runId, repository, number, cause, kind, head, baseRef, eventAt, payloadDigest, askedBy, focus } = run
  const opensSeries = run.opensSeries && run.plan === undefined
  const optional = { ...(askedBy ? { askedBy } : {}), ...(focus === undefined ? {} : { focus }) }
  return { runId, repository, number, cause, kind, head, baseRef, opensSeries, eventAt, payloadDigest, ...optional }
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
