/** A run: one review of one pull request for one cause. Its states, and what a delivery does to one that exists. */
import type { ErrorCode } from '../base/errors.ts'
import { DELIVERIES_KEPT } from '../base/limits.ts'

/**
 * accepted → running → concluded → ended is the way of a run that is reviewed. `ending` is the one way out for
 * supersede, cancel, close and failure; `held` waits for a halt to be lifted.
 */
export type RunState = 'accepted' | 'running' | 'concluded' | 'held' | 'ending' | 'ended'

/** How a run ended. */
export type RunOutcome = 'reviewed' | 'superseded' | 'closed' | 'cancelled' | 'failed'

/** Why a run didn't end as reviewed: a stable token and a sentence. */
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

/** What an accepted webhook asks for. */
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
  /** A person asked for it and waits: its reviews get an earlier turn. */
  readonly askedBy?: 'person'
  /** What that person wants looked at above all; part of what is said, and so of the plan key. */
  readonly focus?: string
}

export interface Run extends RunRequest {
  readonly attempt: number
  readonly state: RunState
  readonly outcome?: RunOutcome
  readonly reason?: Reason
  readonly verdict?: string
  /** ms UTC; the turn of its reviews is counted from here. */
  readonly acceptedAt: number
  /** Delivery ids that this run has answered, newest last. */
  readonly deliveries: readonly string[]
  /** Document digest of this attempt's plan. */
  readonly plan?: string
  readonly planKey?: string
  /** What its lenses compete for, by lens; one that isn't named asks no model. */
  readonly pools?: Readonly<Record<string, string>>
  /** Reviews of it wait for a model that is throttled, and its check run says so. */
  readonly parked?: { readonly pool: string; readonly since: number }
  /** Document digest and plan key of the last conclusion, kept over attempts: the same key is shown again. */
  readonly conclusion?: string
  readonly concludedPlanKey?: string
  /** False if a lens that was placed failed: a verdict with that plan key is then made again, with what is missing. */
  readonly concludedWhole?: boolean
  /** Task tokens of Conclude, until they are answered: task-token.ts. */
  readonly token?: string
  /** Runs that wait until this one has ended: they are woken then. */
  readonly awaitedBy?: readonly string[]
  /** Asked for while the run was ending: its next attempt, which begins when this one has ended. */
  readonly askedAgain?: RunRequest
  readonly version: number
}

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
  const { runId, repository, number, cause, kind, head, baseRef, eventAt, payloadDigest, askedBy, focus } = run
  const opensSeries = run.opensSeries && run.plan === undefined
  const optional = { ...(askedBy ? { askedBy } : {}), ...(focus === undefined ? {} : { focus }) }
  return { runId, repository, number, cause, kind, head, baseRef, opensSeries, eventAt, payloadDigest, ...optional }
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
