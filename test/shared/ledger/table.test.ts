import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isFailure } from '../../../shared/base/errors.ts'
import { DUE_SHARDS } from '../../../shared/base/limits.ts'
import {
  change,
  changeInTransaction,
  conditional,
  contended,
  create,
  due,
  dueShardOf,
  keyOf,
  readPrefix,
  transact,
} from '../../../shared/ledger/table.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

let keys = 0
const newKey = () => {
  keys += 1
  return { pk: `TEST#${keys}`, sk: 'ITEM' }
}

describe('create', () => {
  it('an item is created once, by the first writer', async () => {
    const key = newKey()
    expect(await create(world.ledger, { ...key, writer: 'first', n: 1 })).toEqual({ done: true })
    expect(await create(world.ledger, { ...key, writer: 'second', n: 2 })).toMatchObject({
      done: false,
      item: { writer: 'first', n: 1 },
    })
  })

  it('AW32: a first write whose answer was lost is created, though its repetition is refused', async () => {
    const key = newKey()
    world.wire.passed.length = 0
    world.wire.loseAnswer(({ operation }) => operation === 'PutItem')
    expect(await create(world.ledger, { ...key, writer: 'mine' })).toEqual({ done: true })
    expect(world.wire.passed.map(({ operation }) => operation)).toEqual(['PutItem', 'PutItem'])
  })

  it('AW32: a refused create of another writer stays refused after a lost answer', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'other' })
    world.wire.loseAnswer(({ operation }) => operation === 'PutItem')
    expect(await create(world.ledger, { ...key, writer: 'mine' })).toMatchObject({
      done: false,
      item: { writer: 'other' },
    })
  })

  it('AW34: an undefined member is not written', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'w', absent: undefined, nested: { absent: undefined, here: 1 } })
    expect(await world.item(key)).toEqual({ ...key, writer: 'w', nested: { here: 1 } })
  })
})

describe('change', () => {
  it('sets and removes members only where all conditions hold, and says how the item was or is', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'w', state: 'a', size: 0, name: 'x' })
    expect(await change(world.ledger, key, { set: { state: 'b' }, if: { state: 'a', size: 1 } })).toMatchObject({
      done: false,
      item: { state: 'a' },
    })
    expect(
      await change(world.ledger, key, { set: { state: 'b' }, remove: ['name'], if: { state: 'a', size: 0 } }),
    ).toMatchObject({ done: true, before: { state: 'a' } })
    expect(await world.item(key)).toEqual({ ...key, writer: 'w', state: 'b', size: 0 })
  })

  it('AW28: 0 is a value, and only undefined means absent', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'w', until: 0 })
    expect((await change(world.ledger, key, { set: { x: 1 }, if: { until: undefined } })).done).toBe(false)
    expect((await change(world.ledger, key, { set: { x: 1 }, if: { until: 0, owner: undefined } })).done).toBe(true)
  })

  it('a change with conditions creates no missing item', async () => {
    const key = newKey()
    expect(await change(world.ledger, key, { set: { x: 1 }, if: { version: 3 } })).toEqual({ done: false })
    expect(await world.item(key)).toBeUndefined()
  })
})

describe('conditional', () => {
  it('AW25: a refused condition is known by its name, for any copy of the SDK', async () => {
    const refusal = { name: 'ConditionalCheckFailedException', Item: { pk: { S: 'p' }, n: { N: '7' } } }
    expect(await conditional(() => Promise.reject(refusal))).toEqual({ done: false, item: { pk: 'p', n: 7 } })
  })

  it('AW13: every other exception is passed on', async () => {
    const thrown = { name: 'ProvisionedThroughputExceededException' }
    await expect(conditional(() => Promise.reject(thrown))).rejects.toBe(thrown)
  })
})

describe('transact', () => {
  it('a transaction writes all or nothing, and names the members that refused', async () => {
    const [first, second] = [newKey(), newKey()]
    await create(world.ledger, { ...first, writer: 'w', version: 1 })
    await create(world.ledger, { ...second, writer: 'w', version: 1 })
    const both = (version: number) => [
      changeInTransaction(world.ledger, first, { set: { touched: true }, if: { version: 1 } }),
      changeInTransaction(world.ledger, second, { set: { touched: true }, if: { version } }),
    ]
    expect(await transact(world.ledger, both(9))).toEqual({ done: false, refused: [1], conflict: false })
    expect(await world.item(first)).not.toHaveProperty('touched')
    expect(await transact(world.ledger, both(1))).toEqual({ done: true })
    expect([await world.item(first), await world.item(second)]).toMatchObject([{ touched: true }, { touched: true }])
  })

  it('AW32: a transaction whose answer was lost is done, not refused by itself', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'w', version: 1 })
    world.wire.loseAnswer(({ operation }) => operation === 'TransactWriteItems')
    const step = changeInTransaction(world.ledger, key, { set: { version: 2 }, if: { version: 1 } })
    expect(await transact(world.ledger, [step])).toEqual({ done: true })
  })
})

describe('contended', () => {
  it('reads and decides again until something else is answered', async () => {
    let tries = 0
    const answer = await contended(
      async () => {
        tries += 1
        return tries < 4 ? 'again' : tries
      },
      () => 0,
    )
    expect(answer).toBe(4)
  })

  it('gives up as something to be tried later, not for ever', async () => {
    let tries = 0
    const never = contended(
      async () => {
        tries += 1
        return 'again'
      },
      () => 0,
    )
    await expect(never).rejects.toSatisfy((error) => isFailure(error, 'retry') && error.code === 'busy')
    expect(tries).toBe(12)
  })

  it('16 writers on one item lose no write', async () => {
    const key = newKey()
    await create(world.ledger, { ...key, writer: 'w', version: 0 })
    const increment = () =>
      contended(async () => {
        const version = (await world.item(key))?.version as number
        const written = await change(world.ledger, key, { set: { version: version + 1 }, if: { version } })
        return written.done ? 1 : 'again'
      }).catch((error: unknown) => {
        if (isFailure(error, 'retry')) return 0
        throw error
      })
    const done = await Promise.all(Array.from({ length: 16 }, increment))
    expect((await world.item(key))?.version).toBe(done.reduce((sum: number, one) => sum + one, 0))
  })
})

describe('readPrefix', () => {
  it('reads in order, at most as many as asked, and none of a neighbour', async () => {
    for (const sk of ['A#2', 'A#1', 'A#3', 'AB#1', 'B#1']) await world.put({ pk: 'PREFIX', sk })
    const keysOf = async (prefix: string, limit: number) =>
      readPrefix(world.ledger, { pk: 'PREFIX', prefix, limit }, ({ sk }) => sk)
    expect(await keysOf('A#', 10)).toEqual(['A#1', 'A#2', 'A#3'])
    expect(await keysOf('A#', 2)).toEqual(['A#1', 'A#2'])
    expect(await keysOf('', 9)).toEqual(['A#1', 'A#2', 'A#3', 'AB#1', 'B#1'])
  })

  it('a read goes beyond one page of DynamoDB', async () => {
    const text = 'x'.repeat(300_000)
    for (let index = 0; index < 6; index += 1) await world.put({ pk: 'PAGES', sk: `${index}`, text })
    expect(await readPrefix(world.ledger, { pk: 'PAGES', prefix: '', limit: 6 }, ({ sk }) => sk)).toHaveLength(6)
  })
})

describe('keys', () => {
  const id = fc.integer({ min: 1, max: 2_147_483_647 })
  const hex = fc.stringMatching(/^[0-9a-f]{64}$/)
  const word = fc.constantFrom('secrets', 'adjudication', 'review', 'main', 'check_run', 'lambda', 'closed:1')
  const anyKey = fc.oneof(
    fc.tuple(fc.constant('run'), hex).map(([kind, run]) => ({ is: [kind, run], key: keyOf.run(run) })),
    fc.tuple(id, id).map(([repository, n]) => ({ is: ['thread', repository, n], key: keyOf.thread(repository, n) })),
    fc.tuple(id, id, fc.integer({ min: 0, max: 9_999_999_999 })).map(([repository, n, sequence]) => ({
      is: ['entry', repository, n, sequence],
      key: keyOf.entry(repository, n, sequence),
    })),
    fc.tuple(id, id, word).map(([repository, n, cause]) => ({
      is: ['event', repository, n, cause],
      key: keyOf.event(repository, n, cause),
    })),
    fc.tuple(id, id).map(([repository, n]) => ({
      is: ['resources', repository, n],
      key: keyOf.resources(repository, n),
    })),
    fc.tuple(id, word).map(([repository, pool]) => ({
      is: ['queue', repository, pool],
      key: keyOf.queue(repository, pool),
    })),
    fc.constant({ is: ['fleet'], key: keyOf.fleet() }),
    fc.constant({ is: ['halts'], key: keyOf.halts() }),
  )

  it('LE11: two different things never share a key', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        const samePlace = a.key.pk === b.key.pk && a.key.sk === b.key.sk
        expect(samePlace).toBe(JSON.stringify(a.is) === JSON.stringify(b.is))
      }),
      { numRuns: 500 },
    )
  })

  it('tickets are ordered by turn, entries by sequence', () => {
    fc.assert(
      fc.property(fc.nat({ max: 4_000_000_000_000 }), fc.nat({ max: 4_000_000_000_000 }), (a, b) => {
        const [first, second] = [a, b].map((turn) => keyOf.ticket(1, 'lambda', turn, 'r', 1).sk)
        expect((first ?? '') < (second ?? '')).toBe(a < b)
        const [one, other] = [a % 1e10, b % 1e10].map((sequence) => keyOf.entry(1, 1, sequence).sk)
        expect((one ?? '') < (other ?? '')).toBe(a % 1e10 < b % 1e10)
      }),
    )
  })

  it('a thing is always due in the same shard, and things are spread over all of them', () => {
    const shards = Array.from({ length: 400 }, (_, index) => dueShardOf(keyOf.thread(1, index)))
    expect(new Set(shards).size).toBe(DUE_SHARDS)
    expect(due(keyOf.thread(1, 5), 9)).toEqual({ duePk: `DUE#${dueShardOf(keyOf.thread(1, 5))}`, dueAt: 9 })
  })
})
