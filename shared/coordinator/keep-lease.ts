/** Keeps a lease while a lens works, and says so by a signal when it is lost. */
import { StaleFence } from '../errors.ts'
import { renewLease } from '../ledger/review.ts'
import type { Ledger } from '../ledger/table.ts'
import { AWS_CALL_MS } from '../limits.ts'
import type { Review, ReviewName } from '../review.ts'

export interface KeptLease {
  /** Aborted with StaleFence when the lease is lost, or could not be confirmed before its end (AW38). */
  readonly signal: AbortSignal
  /** Stops renewing; resolves when no renewal is under way. */
  stop(): Promise<void>
}

/** Renews at every heartbeat. A renewal that errs is unknown: work goes on, but not beyond the confirmed end. */
export function keepLease(
  ledger: Ledger,
  name: ReviewName,
  lease: Pick<Review, 'epoch'> & { owner: string; until: number },
  now: () => number,
): KeptLease {
  const lost = new AbortController()
  let confirmedUntil = lease.until
  let underWay: Promise<void> = Promise.resolve()

  async function renew(): Promise<void> {
    if (lost.signal.aborted) return // a renewal that waited for its turn must not revive what was given up
    const at = now()
    try {
      const held = await renewLease(ledger, name, { ...lease, now: at }, AbortSignal.timeout(AWS_CALL_MS))
      if (held) confirmedUntil = at + ledger.timings.reviewLeaseMs
      else lost.abort(new StaleFence())
    } catch {
      // Unknown: the next heartbeat asks again, and the end that was confirmed last still counts.
      if (now() >= confirmedUntil) lost.abort(new StaleFence())
    }
  }

  const timer = setInterval(() => {
    if (now() >= confirmedUntil) lost.abort(new StaleFence())
    else underWay = underWay.then(renew)
  }, ledger.timings.heartbeatMs)
  timer.unref()
  return {
    signal: lost.signal,
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}
