/**
 * Tries every order of the requests of a few programs with the real code: Admit, Review, the sweeper and an operator,
 * over a table with atomic requests. world.ts holds the invariants of each step; a failure prints the steps to the
 * wrong state.
 */
import { describe, expect, it } from 'vitest'
import { explore } from './explore.ts'
import { type Scenario, worldOf } from './world.ts'

/** Far above every scenario's number of states; a scenario that reaches the limit has lost its bound. */
const STATES_MAX = 300_000

const one = { configured: 1, enabled: true }
const two = { configured: 2, enabled: true }
const model = { pool: 'model/a' }
const other = { repository: 8 }

const scenarios: readonly (readonly [string, Scenario])[] = [
  ['2 reviews on 1 slot', { reviews: [{}, {}], limits: one }],
  ['2 reviews on 2 slots', { reviews: [{}, {}], limits: two }],
  ['3 reviews on 1 slot', { reviews: [{}, {}, {}], limits: one, atomic: 'write' }],
  ['3 reviews on 2 slots', { reviews: [{}, {}, {}], limits: two, atomic: 'write' }],
  ['2 reviews on 1 slot, any process dies', { reviews: [{}, {}], limits: one, crashes: 1, atomic: 'write' }],
  [
    '1 review, any process dies, the sweeper looks',
    { reviews: [{}], limits: one, crashes: 1, sweeps: 1, atomic: 'write' },
  ],
  ['1 review, a live worker is called dead', { reviews: [{}], limits: one, lies: 1 }],
  ['2 reviews on 1 slot, a live worker is called dead', { reviews: [{}, {}], limits: one, lies: 1, atomic: 'write' }],
  ['1 review, its grant or lease ends', { reviews: [{}], limits: one, expiries: 1, atomic: 'write' }],
  [
    '2 reviews on 1 slot, one grant or lease ends',
    { reviews: [{}, {}], limits: one, expiries: 1, late: 'one', atomic: 'write' },
  ],
  ['2 repositories, any process dies', { reviews: [{}, other], limits: two, crashes: 1, atomic: 'write' }],
  ['2 repositories of one slot each', { reviews: [{}, other], limits: { ...two, perRepository: 1 } }],
  ['2 reviews of a repository of one slot', { reviews: [{}, {}], limits: { ...two, perRepository: 1 } }],
  ['2 pools, one of them throttled', { reviews: [{ ...model, throttled: true }, {}], limits: one }],
  ['a throttled pool and a waiting review', { reviews: [{ ...model, throttled: true }, model], limits: two }],
  [
    'a pool with a ceiling of its own',
    { reviews: [model, model], limits: { ...two, pools: { 'model/a': { configured: 1 } } } },
  ],
  ['the limit is raised', { reviews: [{}, {}], limits: one, changes: [{ configured: 2 }], atomic: 'write' }],
  ['the limit is lowered', { reviews: [{}, {}], limits: two, changes: [{ configured: 1 }], atomic: 'write' }],
]

describe('a small fleet, in every order', () => {
  it.each(scenarios)(
    '%s: I1, I2, IL6–IL9, IL13: slots never exceed the limit, no slot idles, all reviews complete',
    async (_, scenario) => {
      expect(await statesOf(scenario)).toBeGreaterThan(100)
    },
  )

  it('the invariants hold with the sweeper at any moment, beside 2 reviews on 1 slot', async () => {
    const scenario: Scenario = { reviews: [{}, {}], limits: one, sweeps: 1, atomic: 'write' }
    expect(await statesOf(scenario)).toBeGreaterThan(1_000)
  })
})

describe('reviews with different names and equal plans', () => {
  /** Writes grants although no slot is free. */
  const mistaken: Scenario['mistaken'] = ({ operation, input }) => {
    const values = input.ExpressionAttributeValues as Record<string, unknown> | undefined
    if (values?.[':room'] === undefined) return { operation, input }
    return { operation, input: { ...input, ExpressionAttributeValues: { ...values, ':room': { N: '9' } } } }
  }

  it.each([
    ['2 on 1 slot', 2, { reviews: [{}, {}], limits: one }],
    ['3 on 3 slots', 6, { reviews: [{}, {}, {}], limits: { configured: 3, enabled: true }, atomic: 'write' }],
  ] as const)(
    'equal reviews, %s: all orders share the first state and repeat each later state once for each of %i orders',
    async (_, orders, alike) => {
      const merged = await statesOf(alike)
      expect(await statesOf({ ...alike, unmerged: true })).toBe(1 + orders * (merged - 1))
    },
  )

  it.each([false, true])(
    'equal reviews break the same rule whether merged or not, all orders tried: %s',
    async (unmerged) => {
      const scenario: Scenario = { reviews: [{}, {}], limits: one, mistaken, unmerged }
      await expect(statesOf(scenario)).rejects.toThrow('I1: more slots than are effective')
    },
  )
})

async function statesOf(scenario: Scenario): Promise<number> {
  const { first, keyOf, stepsFrom } = await worldOf(scenario)
  return (await explore(first, keyOf, stepsFrom, STATES_MAX)).states
}
