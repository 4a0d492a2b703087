/** The retriers of the States Language, https://states-language.net/spec.html#retrying-after-error. */
import { describe, expect, test } from 'vitest'
import { retryDelays } from '../../../../infra/local/stepfunctions/retry.ts'

/** The delays in ms after each of the errors. */
function delaysAfter(errors: readonly string[], ...args: Parameters<typeof retryDelays>): (number | undefined)[] {
  const next = retryDelays(...args)
  return errors.map((error) => next(error))
}

describe('a retrier', () => {
  test('a retrier without settings doubles a second three times', () => {
    expect(delaysAfter(['busy', 'busy', 'busy', 'busy'], [{ ErrorEquals: ['busy'] }])).toEqual([
      1_000,
      2_000,
      4_000,
      undefined,
    ])
  })

  test('a retrier grows by the given rate, up to the given limit', () => {
    const retrier = { ErrorEquals: ['busy'], IntervalSeconds: 2, BackoffRate: 3, MaxDelaySeconds: 10, MaxAttempts: 4 }

    expect(delaysAfter(['busy', 'busy', 'busy', 'busy'], [retrier])).toEqual([2_000, 6_000, 10_000, 10_000])
  })

  test('AW67: a retrier with full jitter draws between nothing and the whole delay', () => {
    const retrier = { ErrorEquals: ['busy'], IntervalSeconds: 10, JitterStrategy: 'FULL' as const }

    expect(delaysAfter(['busy'], [retrier], () => 0)).toEqual([0])
    expect(delaysAfter(['busy'], [retrier], () => 0.25)).toEqual([2_500])
  })

  test('a retrier counts its own attempts, and the first that names an error decides alone', () => {
    const retriers = [
      { ErrorEquals: ['retry'], MaxAttempts: 1 },
      { ErrorEquals: ['dead'], MaxAttempts: 0 },
      { ErrorEquals: ['States.ALL'], IntervalSeconds: 5, MaxAttempts: 1 },
    ]

    expect(delaysAfter(['retry', 'other', 'retry'], retriers)).toEqual([1_000, 5_000, undefined])
    expect(delaysAfter(['dead'], retriers)).toEqual([undefined])
  })

  test.each(['States.DataLimitExceeded', 'States.Runtime'])('of all errors does not match %s', (error) => {
    expect(delaysAfter([error], [{ ErrorEquals: ['States.ALL'] }])).toEqual([undefined])
  })
})
