import { describe, expect, it } from 'vitest'
import {
  Dead,
  isFailure,
  LeaseHeld,
  nameOf,
  Refused,
  Retry,
  StaleFence,
  sentenceOf,
} from '../../../shared/base/errors.ts'

const failures = [
  ['refused', new Refused('halted', 'A halt stands.', 'Lift it.')],
  ['retry', new Retry('busy', 'Too many at once.', 1_000)],
  ['dead', new Dead('plan_missing', 'There is no plan.', 'Deliver it again.')],
  ['stale_fence', new StaleFence()],
  ['lease_held', new LeaseHeld()],
] as const

describe('the closed set of failures', () => {
  it.each(failures)(
    'AW68: %s is an own name, not the name of a class, which minifying would change',
    (name, failure) => {
      expect(Object.hasOwn(failure, 'name')).toBe(true)
      expect(failure.name).toBe(name)
      expect(failure).toBeInstanceOf(Error)
    },
  )

  it.each(failures)('AW25: %s is recognised from another copy of its class', (name, failure) => {
    const copy = { ...failure, name: failure.name, message: failure.message }
    expect(isFailure(copy, name)).toBe(true)
    expect(failures.filter(([other]) => isFailure(copy, other)).map(([other]) => other)).toEqual([name])
  })

  it('RC5: stale_fence names neither the holder nor any content', () => {
    expect({ ...new StaleFence() }).toEqual({ name: 'stale_fence' })
  })

  it('a failure keeps the cause, the code and the remedy', () => {
    const cause = new Error('lower')
    const error = new Dead('plan_missing', 'There is no plan.', 'Deliver it again.', { cause })
    expect(error).toMatchObject({ cause, code: 'plan_missing', remedy: 'Deliver it again.' })
    expect(error.message).toBe('plan_missing: There is no plan.')
  })
})

describe('nameOf and sentenceOf', () => {
  it('nameOf and sentenceOf read any thrown value', () => {
    expect([new TypeError('x'), 'text', undefined, null, {}, { name: 3 }].map(nameOf)).toEqual([
      'TypeError',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
    ])
    expect([new TypeError('x'), 'text', undefined].map(sentenceOf)).toEqual(['x', 'text', 'undefined'])
  })

  it('AW13: a foreign error is no failure of Muster', () => {
    for (const thrown of ['refused', null, undefined, new Error('refused')])
      expect(isFailure(thrown, 'refused')).toBe(false)
  })
})
