import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limitsPatch } from '../../../shared/fleet/ceiling.ts'
import { modelOfPool, poolOf, poolOfModel, poolsOf } from '../../../shared/fleet/pools.ts'

const model = { model: 'qwen3-coder', baseUrl: 'https://models.example' }
const reviews = [
  { lens: 'secrets', part: 0, paths: [] },
  { lens: 'correctness', part: 0, paths: [] },
  { lens: 'correctness', part: 1, paths: [] },
] as const

describe('pools', () => {
  it('each model has a pool of its own, and reviews without a model have a further pool', () => {
    expect(poolsOf({ reviews, model })).toEqual({ correctness: 'model/qwen3-coder' })
    expect(poolsOf({ reviews, model: undefined })).toEqual({})
    const run = { pools: poolsOf({ reviews, model }) }
    expect(poolOf(run, 'correctness')).toBe('model/qwen3-coder')
    expect(poolOf(run, 'secrets')).toBe('lambda')
    expect(poolOf(run, 'adjudication')).toBe('lambda')
  })

  it('a run planned by an earlier version has a pool that is never closed', () => {
    expect(poolOf({}, 'correctness')).toBe('lambda')
    expect(modelOfPool('lambda')).toBeUndefined()
  })

  it('a usual name is kept, for operators to limit the pool by name', () => {
    for (const name of ['gpt-5.2', 'anthropic/claude-sonnet', 'llama3:70b', 'a@b+c']) {
      expect(modelOfPool(poolOfModel(name))).toBe(name)
    }
  })

  it('LE11: any name of a model makes a pool that is a valid key, can be limited, and is no other model’s', () => {
    const name = fc.oneof(fc.string({ maxLength: 400 }), fc.constantFrom('a#b', 'a-b', 'a b', 'a\tb', 'é', '', 'ü'))
    fc.assert(
      fc.property(name, name, (one, other) => {
        const pool = poolOfModel(one)
        expect(limitsPatch.safeParse({ pools: { [pool]: { configured: 1 } } }).success).toBe(true)
        expect(pool === poolOfModel(other)).toBe(one === other)
      }),
    )
  })
})
