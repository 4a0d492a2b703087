/** How long things are held and when they are looked at again: all from one number, so that they fit each other. */
import { Refused } from './errors.ts'
import { HEARTBEATS_PER_LEASE, REVIEW_LEASE_MS_DEFAULT, REVIEW_LEASE_MS_MIN } from './limits.ts'

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
  readonly lookMs: number
}

/** The timings for a review lease of `reviewLeaseMs`; throws Refused `environment_missing` for one that is too short. */
export function timingsOf(reviewLeaseMs: number = REVIEW_LEASE_MS_DEFAULT): Timings {
  if (!Number.isFinite(reviewLeaseMs) || reviewLeaseMs < REVIEW_LEASE_MS_MIN) {
    throw new Refused(
      'environment_missing',
      `A lease of ${reviewLeaseMs} ms is too short; at least ${REVIEW_LEASE_MS_MIN} ms are needed.`,
      'Set LEASE_SECONDS to a larger number, or leave it out.',
    )
  }
  const heartbeatMs = Math.floor(reviewLeaseMs / HEARTBEATS_PER_LEASE)
  return { reviewLeaseMs, heartbeatMs, grantMs: 2 * heartbeatMs, postLeaseMs: heartbeatMs, lookMs: heartbeatMs }
}
