/** The lenses of one seed: how long a reading takes, its findings, and when a lens throttles, fails or hangs. */
import { Retry } from '../../../shared/base/errors.ts'
import { PROBE_ADMITTED_MS } from '../../../shared/base/limits.ts'
import type { Severity } from '../../../shared/findings/severity.ts'
import type { Random } from '../kernel/random.ts'
import { findingAt, type LensBehaviour, type LensBehaviourOf } from '../simulated-lens.ts'

export interface Lenses {
  readonly behaviourOf: LensBehaviourOf
  /** From now on, for `forMs`. */
  throttle(forMs: number): void
  fail(forMs: number): void
  /** The next reading doesn't end by itself. */
  hang(): void
  /** From now on readings end, and none fails. */
  calm(): void
}

/** The time of a reading, ms: from a moment to longer than the longest lease. */
const DURATIONS_MS = [200, 2_000, 10_000, 30_000, 70_000, 200_000] as const
/** Longer than any function may run. */
const FOR_EVER_MS = 86_400_000
const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low']
/** The retry time of a throttled model, ms. */
const RETRY_AFTER_MS = [5_000, 20_000, 60_000] as const
/** ms until a refusal: at once as a rule, sometimes after the probe already counts as admitted. */
const REFUSED_AFTER_MS = [100, 100, 100, PROBE_ADMITTED_MS + 5_000] as const

/** `now` is the world's, ms UTC. */
export function lensesOf(random: Random, now: () => number): Lenses {
  let throttledUntil = 0
  let failsUntil = 0
  let hangs = 0

  function behaviourOf(...[, input]: Parameters<LensBehaviourOf>): LensBehaviour {
    const durationMs = random.pick(DURATIONS_MS)
    if (hangs > 0) {
      hangs -= 1
      return { durationMs: FOR_EVER_MS }
    }
    if (input.model && now() < throttledUntil) {
      return {
        durationMs: random.pick(REFUSED_AFTER_MS),
        failure: new Retry('model_throttled', 'Too many requests.', random.pick(RETRY_AFTER_MS)),
      }
    }
    if (now() < failsUntil) return { durationMs: 100, failure: new Error('The lens is broken.') }
    const findings = input.files.flatMap((file) =>
      random.chance(0.4) ? findingAt(file, { severity: random.pick(SEVERITIES) }) : [],
    )
    return { durationMs, findings }
  }

  return {
    behaviourOf,
    throttle(forMs) {
      throttledUntil = now() + forMs
    },
    fail(forMs) {
      failsUntil = now() + forMs
    },
    hang() {
      hangs += 1
    },
    calm() {
      throttledUntil = 0
      failsUntil = 0
      hangs = 0
    },
  }
}
