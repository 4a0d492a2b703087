/** Renews a lease while a lens works, and aborts a signal when the lease is lost. */
import { StaleFence } from '../../shared/base/errors.ts'
import { AWS_CALL_MS } from '../../shared/base/limits.ts'
import type { Fence } from '../../shared/fleet/lease.ts'
import { renewLease } from '../../shared/ledger/review.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { ReviewName } from '../../shared/runs/review.ts'

export interface KeptLease {
  /** Aborted with StaleFence when the lease is lost, or not confirmed before its end (AW38). */
  readonly signal: AbortSignal
  /** Throws StaleFence unless the lease is confirmed now; called before each effect. */
  assertHeld(): void
  /** Stops the renewals: after it resolves, none is sent. A renewal under way is aborted; a late one is refused by the fence. */
  stop(): Promise<void>
}

/** Renews at every heartbeat. A failed renewal has an unknown outcome: work goes on, but not beyond the confirmed end. */
export function keepLease(
  ledger: Ledger,
  name: ReviewName,
  lease: Fence & { until: number },
  now: () => number,
): KeptLease {
  const { heartbeatMs, reviewLeaseMs } = ledger.timings
  const lost = new AbortController()
  const stopped = new AbortController()
  let confirmedUntil = lease.until
  let renewal: Promise<void> | undefined

  async function renew(): Promise<void> {
    const startedAt = now()
    const deadline = AbortSignal.any([stopped.signal, AbortSignal.timeout(AWS_CALL_MS)])
    try {
      if (!(await renewLease(ledger, name, { ...lease, now: startedAt }, deadline))) return lose()
      confirmedUntil = startedAt + reviewLeaseMs
    } catch {
      // Unknown: the next heartbeat renews again, and the last confirmed end still counts.
    } finally {
      renewal = undefined
    }
  }

  const heartbeats = setInterval(() => {
    renewal ??= renew()
  }, heartbeatMs)
  heartbeats.unref()

  // The end may fall between two heartbeats. After a renewal the timer is set again.
  let end: NodeJS.Timeout
  function awaitEnd(): void {
    const leftMs = confirmedUntil - now()
    if (leftMs <= 0) lose()
    else end = setTimeout(awaitEnd, leftMs).unref()
  }
  awaitEnd()

  function stopTimers(): void {
    clearInterval(heartbeats)
    clearTimeout(end)
  }
  function lose(): void {
    stopTimers()
    lost.abort(new StaleFence())
  }

  return {
    signal: lost.signal,
    assertHeld() {
      if (now() >= confirmedUntil) lose()
      lost.signal.throwIfAborted()
    },
    async stop() {
      stopTimers()
      stopped.abort()
      await renewal
    },
  }
}
