import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DUE_PAGE, DUE_SHARDS } from '../../../shared/base/limits.ts'
import { dueKeys, kindOfKey, postponeDue, readDue } from '../../../shared/ledger/due.ts'
import { acceptEvent, finishEvent, openEvent } from '../../../shared/ledger/event.ts'
import { oweReply } from '../../../shared/ledger/message.ts'
import { raiseResources } from '../../../shared/ledger/resource.ts'
import { awaitGrant } from '../../../shared/ledger/review.ts'
import { acceptRun } from '../../../shared/ledger/run.ts'
import { due, keyOf } from '../../../shared/ledger/table.ts'
import { repository, requestOf, wantedReview } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const event = { kind: 'closed', repository, number: 42, cause: 'closed:1000', eventAt: 1_000 } as const
const accept = () =>
  acceptEvent(world.ledger, event, { writer: `w-${Math.random()}`, now: world.now, signal: AbortSignal.timeout(5_000) })

describe('the due index', () => {
  it('the index finds items that are due by now, oldest first, and no later item', async () => {
    for (const [name, at] of [
      ['c', 30],
      ['a', 10],
      ['later', 101],
      ['b', 20],
    ] as const) {
      const key = { pk: name, sk: 'EVENT#x' }
      await world.put({ ...key, ...due(key, at) })
    }
    await world.put({ pk: 'never', sk: 'EVENT#x' })
    expect((await dueKeys(world.ledger, 100)).map(({ pk }) => pk)).toEqual(['a', 'b', 'c'])
  })

  it('takes at most a page of each shard, and what was moved on makes room for the rest', async () => {
    const total = DUE_PAGE * DUE_SHARDS + 40
    for (let index = 0; index < total; index += 1) {
      const key = { pk: `item-${index}`, sk: 'EVENT#x' }
      await world.put({ ...key, ...due(key, index) })
    }
    const seen = new Set<string>()
    for (let tick = 0; tick < 4; tick += 1) {
      const keys = await dueKeys(world.ledger, total)
      expect(keys.length).toBeLessThanOrEqual(DUE_PAGE * DUE_SHARDS)
      for (const key of keys) {
        seen.add(key.pk)
        await postponeDue(world.ledger, key, (await readDue(world.ledger, key, total))?.dueAt ?? 0, total + 1)
      }
    }
    expect(seen.size).toBe(total)
  })

  it('each kind of due item is read from the base table', async () => {
    const { now, ledger } = world
    const signal = AbortSignal.timeout(5_000)
    await acceptRun(ledger, requestOf(), { deliveryId: 'd1', writer: 'w', now, signal })
    await awaitGrant(ledger, wantedReview(0), { writer: 'w', now })
    await accept()
    const wanted = [{ kind: 'label', key: 'main', document: 'd' }]
    await raiseResources(ledger, { repositoryId: 7, number: 42, runId: 'r', wanted, now })
    const fleet = keyOf.fleet()
    await world.put({ ...fleet, ...due(fleet, now) })
    await oweReply(ledger, { repository, number: 42, replyId: 'r', document: 'd' }, { writer: 'w', now })
    const later = now + 1_000_000
    const things = await Promise.all((await dueKeys(ledger, later)).map((key) => readDue(ledger, key, later)))
    expect(things.map((thing) => thing?.kind).toSorted()).toEqual([
      'event',
      'fleet',
      'message',
      'resources',
      'review',
      'run',
    ])
  })

  it('the index only finds: what is no longer due in the base table is left out', async () => {
    const key = keyOf.fleet()
    await world.put({ ...key, ...due(key, 10) })
    expect(await readDue(world.ledger, key, 9)).toBeUndefined()
    expect(await readDue(world.ledger, { pk: 'none', sk: 'RUN' }, 9)).toBeUndefined()
    expect(await readDue(world.ledger, key, 10)).toMatchObject({ kind: 'fleet', dueAt: 10 })
  })

  it('a postponed item is not moved back', async () => {
    const key = keyOf.fleet()
    await world.put({ ...key, ...due(key, 50) })
    await postponeDue(world.ledger, key, 10, 20)
    expect(await world.item(key)).toMatchObject({ dueAt: 50 })
  })

  it('a key has a name for the log without the content of the key', () => {
    expect(kindOfKey(keyOf.resources(7, 42))).toBe('SHOWN')
    expect(kindOfKey(keyOf.run('a'))).toBe('RUN')
  })
})

describe('an event', () => {
  it('AD10, I9: is written once per cause, open until it is done, and stays done', async () => {
    const answers = await Promise.all([accept(), accept()])
    expect(answers.toSorted()).toEqual(['known', 'recorded'])
    const name = { repositoryId: repository.id, number: 42, cause: event.cause }
    expect(await openEvent(world.ledger, name)).toMatchObject(event)
    await finishEvent(world.ledger, event)
    await finishEvent(world.ledger, event)
    expect(await openEvent(world.ledger, name)).toBeUndefined()
    expect(await accept()).toBe('known')
    expect(await openEvent(world.ledger, name)).toBeUndefined()
    expect(await dueKeys(world.ledger, world.now + 1_000_000)).toEqual([])
  })

  it('AW29: an ended item expires after its retention, in seconds', async () => {
    await accept()
    expect(String((await world.items())[0]?.expiresAt)).toMatch(/^\d{10}$/)
  })
})
