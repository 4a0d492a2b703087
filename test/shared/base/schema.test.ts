import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { only, openWord, storedAs, without } from '../../../shared/base/schema.ts'
import { fleetSchema } from '../../../shared/fleet/schedule.ts'
import { reviewSchema } from '../../../shared/runs/review.ts'
import { runSchema } from '../../../shared/runs/run.ts'
import { threadSchema } from '../../../shared/runs/thread.ts'
import { planSchema } from '../../../shared/verdict/plan.ts'
import { planOf, runOf, threadOf, wantedReview } from '../samples.ts'

const misfit = (member: string) => new Error(`misfit at ${member}`)
const schema = z.object({ a: z.number(), b: z.object({ c: z.string() }).exactOptional() })

describe('storedAs', () => {
  it('passes on the very value, with members at every depth that the schema does not name', () => {
    const value = { a: 1, b: { c: 'x', d: 2 }, e: [3] }
    expect(storedAs(schema, value, misfit)).toBe(value)
    expect(value).toEqual({ a: 1, b: { c: 'x', d: 2 }, e: [3] })
  })

  it('names the first member that does not fit, and the root where the value is no object', () => {
    expect(() => storedAs(schema, { a: 1, b: { c: 2 } }, misfit)).toThrow('misfit at b')
    expect(() => storedAs(schema, {}, misfit)).toThrow('misfit at a')
    expect(() => storedAs(schema, undefined, misfit)).toThrow('misfit at root')
    expect(() => storedAs(schema, 'a', misfit)).toThrow('misfit at root')
  })

  it.each([
    ['a run', runSchema, runOf({ askedBy: 'person', plan: 'p' })],
    ['a review', reviewSchema, { ...wantedReview(0), state: 'waiting', epoch: 1 }],
    ['a thread', threadSchema, threadOf({ counted: ['m'] })],
    ['a plan', planSchema, JSON.parse(JSON.stringify(planOf()))],
    [
      'the fleet',
      fleetSchema,
      { limits: { configured: 1, enabled: true }, slots: {}, closed: {}, granted: 0, version: 1 },
    ],
  ])('describes %s as it is: the schema neither defaults nor transforms', (_what, described, value) => {
    expect(described.parse(value)).toEqual(value)
  })
})

describe('openWord', () => {
  it('takes a word of a later version, and nothing but words', () => {
    const word = openWord<'a' | 'b'>()
    expect(word.safeParse('c').success).toBe(true)
    expect(word.safeParse(1).success).toBe(false)
    expect(word.safeParse(undefined).success).toBe(false)
  })
})

describe('parts of a value', () => {
  it('are a copy: what is left out stays in the original', () => {
    const value: { a: number; b?: string } = { a: 1, b: 'x' }
    expect(without(value, ['b'])).toEqual({ a: 1 })
    expect(only(value, ['b'])).toEqual({ b: 'x' })
    expect(value).toEqual({ a: 1, b: 'x' })
  })

  it('has no member that the value has not', () => {
    const value: { a: number; b?: string } = { a: 1 }
    expect(only(value, ['a', 'b'])).not.toHaveProperty('b')
  })
})
