/** Durations of leases and grants and intervals of rechecks, all derived from one number to fit together; and the patience. */
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
  /** Duration of a review's lease without renewal, ms. */
  readonly reviewLeaseMs: number
  /** Interval of a lease's renewals, ms: short enough for two renewals to fail. */
  readonly heartbeatMs: number
  /** Duration of a grant until its worker takes the lease, ms: covers a cold start and the delays of Step Functions. */
  readonly grantMs: number
  /** Lease of a poster on a message or a resource, ms. */
  readonly postLeaseMs: number
  /** Interval until an item that should go on by itself is looked at again, ms. */
  readonly recheckMs: number
  /** The shortest closing of a throttled model's pool, ms. */
  readonly closedMinMs: number
  /** The longest wait of a review for a throttled model in all, ms. */
  readonly patienceMs: number
}

/**
 * The timings for a review lease of `reviewLeaseMs`, renewed every `heartbeatMs` (a third of the lease if not given). Throws
 * Refused `environment_missing` for a lease too short or shorter than three heartbeats, and for a patience of zero or above
 * PATIENCE_MS_MAX.
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
      `A heartbeat every ${heartbeatMs} ms is too rare for a lease of ${reviewLeaseMs} ms, which needs ${HEARTBEATS_PER_LEASE}.`,
      'Set HEARTBEAT_SECONDS to at most a third of LEASE_SECONDS, or leave it out.',
    )
  }
  if (!(patienceMs > 0 && patienceMs <= PATIENCE_MS_MAX)) {
    throw new Refused(
      'environment_missing',
      `A patience of ${patienceMs} ms is out of range; the longest is ${PATIENCE_MS_MAX} ms.`,
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
