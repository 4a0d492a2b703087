/** Keeps a lease while a lens works, and says so by a signal when it is lost. */
import { StaleFence } from '../../shared/base/errors.ts'
import { AWS_CALL_MS } from '../../shared/base/limits.ts'
import type { Fence } from '../../shared/fleet/lease.ts'
import { renewLease } from '../../shared/ledger/review.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { ReviewName } from '../../shared/runs/review.ts'

export interface KeptLease {
  /** Aborted with StaleFence when the lease is lost, or could not be confirmed before its end (AW38). */
  readonly signal: AbortSignal
  /** Throws StaleFence unless the lease is confirmed at this moment: asked before each effect. */
  assertHeld(): void
  /** Stops renewing: nothing is sent after it resolves. A renewal on its way is given up; late, it is fenced. */
  stop(): Promise<void>
}

/** Renews at every heartbeat. A renewal that errs is unknown: work goes on, but not beyond the confirmed end. */
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
  let underWay: Promise<void> | undefined

  async function renew(): Promise<void> {
    const at = now()
    const deadline = AbortSignal.any([stopped.signal, AbortSignal.timeout(AWS_CALL_MS)])
    try {
      if (!(await renewLease(ledger, name, { ...lease, now: at }, deadline))) return lose()
      confirmedUntil = at + reviewLeaseMs
    } catch {
      // Unknown: the next heartbeat asks again, and the end that was confirmed last still counts.
    } finally {
      underWay = undefined
    }
  }

  const heartbeats = setInterval(() => {
    underWay ??= renew()
  }, heartbeatMs)
  heartbeats.unref()

  // The end may fall between two heartbeats. Moved on by renewals meanwhile, it is waited for again.
  let end: NodeJS.Timeout
  function awaitEnd(): void {
    const leftMs = confirmedUntil - now()
    if (leftMs <= 0) lose()
    else end = setTimeout(awaitEnd, leftMs).unref()
  }
  awaitEnd()

  function quiet(): void {
    clearInterval(heartbeats)
    clearTimeout(end)
  }
  function lose(): void {
    quiet()
    lost.abort(new StaleFence())
  }

  return {
    signal: lost.signal,
    assertHeld() {
      if (now() >= confirmedUntil) lose()
      lost.signal.throwIfAborted()
    },
    async stop() {
      quiet()
      stopped.abort()
      await underWay
    },
  }
}
