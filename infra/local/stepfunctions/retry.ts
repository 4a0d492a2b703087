/** When a failed task is tried again: the retriers of the States Language, as a function from errors to delays. */
import type { Retrier } from './definition.ts'
import { isTerminal } from './errors.ts'

/** The defaults of https://states-language.net/spec.html#retrying-after-error. */
const attemptsMaxDefault = 3
const intervalSecondsDefault = 1
const backoffRateDefault = 2

/**
 * Counts the uses of each retrier of one task. The answer is the delay in ms until the next attempt, or undefined for a
 * final error. The first retrier that names the error decides alone. `random` draws from [0, 1), for the jitter.
 */
export function retryDelays(
  retriers: readonly Retrier[],
  random: () => number = Math.random,
): (error: string) => number | undefined {
  const used = retriers.map(() => 0)
  return (error) => {
    const index = retriers.findIndex((retrier) => matches(retrier.ErrorEquals, error))
    const retrier = retriers[index]
    const usedBefore = used[index] ?? 0
    if (!retrier || usedBefore >= (retrier.MaxAttempts ?? attemptsMaxDefault)) return undefined
    used[index] = usedBefore + 1
    const growth = (retrier.BackoffRate ?? backoffRateDefault) ** usedBefore
    const seconds = Math.min(
      (retrier.IntervalSeconds ?? intervalSecondsDefault) * growth,
      retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY,
    )
    return Math.round(seconds * 1000 * (retrier.JitterStrategy === 'FULL' ? random() : 1))
  }
}

function matches(names: readonly string[], error: string): boolean {
  return !isTerminal(error) && (names.includes(error) || names.includes('States.ALL'))
}
