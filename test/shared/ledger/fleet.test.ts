import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  dropQueue,
  dropTicket,
  queueTicket,
  readFleet,
  readQueues,
  readTickets,
  updateLimits,
  writeFleet,
} from '../../../shared/ledger/fleet.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { afterHandOver, FLEET_AT_REST, type Fleet } from '../../../shared/schedule.ts'
import { ticket } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const granting = (fleet: Fleet, ...names: string[]) =>
  afterHandOver(fleet, { grants: names.map((name) => ticket(name)), now: world.now })
const write = (before: Fleet, next: Fleet, writer: string) => writeFleet(world.ledger, before, next, writer, world.now)

describe('the fleet item', () => {
  it('is at rest before its first grant', async () => {
    expect(await readFleet(world.ledger)).toEqual(FLEET_AT_REST)
  })

  it('CE6: of two who read the same fleet one writes it, at its first write too', async () => {
    for (const round of [1, 2]) {
      const before = await readFleet(world.ledger)
      const both = await Promise.all(
        ['a', 'b'].map((name) => write(before, granting(before, `${name}-${round}`), `${name}-${round}`)),
      )
      expect(both.toSorted()).toEqual([false, true])
      expect(Object.keys((await readFleet(world.ledger)).slots)).toHaveLength(round)
    }
  })

  it.each(['PutItem', 'UpdateItem'])('AW32: a %s whose answer was lost is written', async (operation) => {
    if (operation === 'UpdateItem') await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w0')
    const before = await readFleet(world.ledger)
    world.wire.loseAnswer((request) => request.operation === operation)
    expect(await write(before, granting(before, 'b'), 'w1')).toBe(true)
    expect(await readFleet(world.ledger)).toMatchObject({ version: before.version + 1 })
  })

  it('is due while it holds a slot, and a busy fleet is not put off by being written', async () => {
    await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w1')
    const dueAt = world.now + world.ledger.timings.lookMs
    expect(await world.item(keyOf.fleet())).toMatchObject({ dueAt })
    world.now += 30_000
    const before = await readFleet(world.ledger)
    await write(before, granting(before, 'b'), 'w2')
    expect(await world.item(keyOf.fleet())).toMatchObject({ dueAt })
    const full = await readFleet(world.ledger)
    await write(full, { ...full, slots: {} }, 'w3')
    expect(await world.item(keyOf.fleet())).not.toHaveProperty('dueAt')
    const empty = await readFleet(world.ledger)
    await write(empty, granting(empty, 'c'), 'w4')
    expect(await world.item(keyOf.fleet())).toMatchObject({ dueAt: world.now + world.ledger.timings.lookMs })
  })
})

describe('updateLimits', () => {
  const update = (patch: unknown, writer: string, revision?: number) =>
    updateLimits(world.ledger, patch, { writer, now: world.now, revision })
  const stored = async () => (await readFleet(world.ledger)).limits
  /** Does `effect` after the next read of the fleet, before what was read arrives. */
  const afterRead = (effect: () => Promise<unknown>) =>
    world.wire.beforeAnswer(
      ({ operation }) => operation === 'GetItem',
      async () => {
        await effect()
      },
    )

  it('changes what it names and keeps slots and all else, whoever grants meanwhile', async () => {
    await update({ perRepository: 4 }, 'u1')
    afterRead(async () => {
      const before = await readFleet(world.ledger)
      await write(before, granting(before, 'a'), 'w1')
    })
    expect(await update({ configured: 20 }, 'u2')).toMatchObject({ kind: 'changed' })
    expect(await readFleet(world.ledger)).toMatchObject({
      limits: { configured: 20, enabled: true, perRepository: 4, revision: 2 },
      slots: { a: { epoch: 1 } },
    })
  })

  it('CE2: refused with the limit named, and nothing is written', async () => {
    expect(await update({ pools: { external: { configured: 50 } } }, 'u1')).toMatchObject({
      code: 'limit_above_ceiling',
      limit: 'the pool external',
    })
    expect(await world.items()).toEqual([])
  })

  it('CE4: of two that only break the rule together the second is refused, and the stored item never breaks it', async () => {
    afterRead(() => update({ accountQuota: 16 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2')).toMatchObject({ kind: 'refused', limit: 'accountQuota' })
    expect(await stored()).toMatchObject({ configured: 15, accountQuota: 16 })
  })

  it('CE4: two that agree are both there', async () => {
    afterRead(() => update({ perRepository: 3 }, 'u1'))
    await update({ configured: 50 }, 'u2')
    expect(await stored()).toMatchObject({ configured: 50, perRepository: 3 })
  })

  it('CE5: one that a change beside it makes valid is accepted', async () => {
    await update({ accountQuota: 16 }, 'u0')
    afterRead(() => update({ accountQuota: 60 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2')).toMatchObject({ kind: 'changed', limits: { configured: 50 } })
  })

  it('one that names a revision is refused if others were first', async () => {
    afterRead(() => update({ perRepository: 3 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2', 0)).toMatchObject({ code: 'limits_changed' })
    expect(await update({ configured: 50 }, 'u3', 1)).toMatchObject({ kind: 'changed' })
  })

  it('AW32: one whose answer was lost is done once', async () => {
    await update({ configured: 10 }, 'u0')
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await update({ configured: 20 }, 'u1')).toMatchObject({ kind: 'changed' })
    expect(await stored()).toMatchObject({ configured: 20, revision: 2 })
  })
})

describe('queues and tickets', () => {
  it('a queue has its marker from its first ticket on, and its tickets in the order of their turns', async () => {
    for (const turn of [30, 5, 200]) await queueTicket(world.ledger, ticket(`r${turn}`, { turn }), `nonce-${turn}`)
    const [queue, ...others] = await readQueues(world.ledger)
    expect(others).toEqual([])
    expect(queue).toMatchObject({ repository: 7, pool: 'lambda', nonce: 'nonce-200' })
    if (queue) expect((await readTickets(world.ledger, queue, 2)).map(({ turn }) => turn)).toEqual([5, 30])
  })

  it('the same ticket twice is one ticket; that of a later epoch is another', async () => {
    for (const epoch of [1, 1, 2]) await queueTicket(world.ledger, ticket('r', { epoch }), 'n')
    const [queue] = await readQueues(world.ledger)
    if (!queue) throw new Error('Expected a queue, found none')
    expect(await readTickets(world.ledger, queue, 9)).toHaveLength(2)
    await dropTicket(world.ledger, ticket('r', { epoch: 1 }))
    expect(await readTickets(world.ledger, queue, 9)).toMatchObject([{ epoch: 2 }]) // IL9
  })

  it('IL8: a marker that a ticket has renewed since it was read is not deleted', async () => {
    await queueTicket(world.ledger, ticket('first'), 'n1')
    await dropTicket(world.ledger, ticket('first'))
    const [seen] = await readQueues(world.ledger)
    if (!seen) throw new Error('Expected a queue, found none')
    await queueTicket(world.ledger, ticket('second'), 'n2')
    await dropQueue(world.ledger, seen)
    expect(await readQueues(world.ledger)).toMatchObject([{ nonce: 'n2' }])
  })

  it('a marker of an empty queue is deleted by who saw it empty', async () => {
    await queueTicket(world.ledger, ticket('first'), 'n1')
    await dropTicket(world.ledger, ticket('first'))
    for (const queue of await readQueues(world.ledger)) await dropQueue(world.ledger, queue)
    expect(await world.items()).toEqual([])
  })

  it('IL8: the ticket is written before its marker', async () => {
    world.wire.passed.length = 0
    await queueTicket(world.ledger, ticket('r'), 'n')
    const partitions = world.wire.passed.map(({ body }) => (body.Item as { pk: { S: string } }).pk.S)
    expect(partitions).toEqual(['QUEUE#7#lambda', 'FLEET#main'])
  })
})
