/** How long things are held and when they are looked at again: all from one number, so that they fit each other; and patience. */
import { Refused } from '../base/errors.ts'
import {
  CLOSINGS_PER_LEASE,
  HEARTBEATS_PER_LEASE,
  PATIENCE_MS_DEFAULT,
  PATIENCE_MS_MAX,
  REVIEW_LEASE_MS_DEFAULT,
  REVIEW_LEASE_MS_MIN,
} from '../base/limits.ts'

export interface Timings {
  /** How long a lease on a review holds without renewal, ms. */
  readonly reviewLeaseMs: number
  /** How often a working lens renews its lease, ms: so often that two renewals may fail. */
  readonly heartbeatMs: number
  /** How long a grant waits for its worker to take the lease, ms: a cold start and Step Functions' own delays. */
  readonly grantMs: number
  /** Lease of a poster on a message or a resource, ms. */
  readonly postLeaseMs: number
  /** When something that should have gone on by itself is looked at again, ms. */
  readonly recheckMs: number
  /** The shortest time for which a throttled model's pool is closed, ms. */
  readonly closedMinMs: number
  /** How long a review waits for a throttled model in all, ms. */
  readonly patienceMs: number
}

/**
 * The timings for a review lease of `reviewLeaseMs`, renewed every `heartbeatMs` (a third of it if that isn't given). Throws
 * Refused `environment_missing` for a lease that is too short, or shorter than three heartbeats, and for a patience of no time
 * or of more than PATIENCE_MS_MAX.
 */
export function timingsOf(
  reviewLeaseMs: number = REVIEW_LEASE_MS_DEFAULT,
  heartbeatMs?: number,
  patienceMs: number = PATIENCE_MS_DEFAULT,
): Timings {
  if (!Number.isFinite(reviewLeaseMs) || reviewLeaseMs < REVIEW_LEASE_MS_MIN) {
    throw new Refused(
      'environment_missing',
      `A lease of ${reviewLeaseMs} ms is too short; at least ${REVIEW_LEASE_MS_MIN} ms are needed.`,
      'Set LEASE_SECONDS to a larger number, or leave it out.',
    )
  }
  const third = Math.floor(reviewLeaseMs / HEARTBEATS_PER_LEASE)
  if (heartbeatMs !== undefined && !(heartbeatMs > 0 && heartbeatMs <= third)) {
    throw new Refused(
      'environment_missing',
      `A heartbeat every ${heartbeatMs} ms doesn't fit a lease of ${reviewLeaseMs} ms, which takes ${HEARTBEATS_PER_LEASE} of them.`,
      'Set HEARTBEAT_SECONDS to at most a third of LEASE_SECONDS, or leave it out.',
    )
  }
  if (!(patienceMs > 0 && patienceMs <= PATIENCE_MS_MAX)) {
    throw new Refused(
      'environment_missing',
      `A patience of ${patienceMs} ms is not possible; at most ${PATIENCE_MS_MAX} ms are.`,
      'Set PATIENCE_MINUTES to a number up to 120, or leave it out.',
    )
  }
  return {
    reviewLeaseMs,
    heartbeatMs: heartbeatMs ?? third,
    grantMs: 2 * third,
    postLeaseMs: third,
    recheckMs: third,
    closedMinMs: Math.floor(reviewLeaseMs / CLOSINGS_PER_LEASE),
    patienceMs,
  }
}
