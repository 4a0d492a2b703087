import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closedBy, FLEET_AT_REST, type Fleet, withGrants, withoutSlots } from '../../../shared/fleet/schedule.ts'
import {
  dropQueue,
  dropTicket,
  queueTicket,
  readFleet,
  readQueues,
  readTickets,
  restFleet,
  updateLimits,
  writeFleet,
} from '../../../shared/ledger/fleet.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { ticket } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const granting = (fleet: Fleet, ...names: string[]) =>
  withGrants(
    fleet,
    names.map((name) => ticket(name)),
    world.now,
  )
const write = (before: Fleet, next: Fleet, writer: string) => writeFleet(world.ledger, before, next, writer, world.now)

const releasing = (fleet: Fleet, name: string) => withoutSlots(fleet, [{ reviewId: name, epoch: 1 }])
const heldNow = async () => Object.keys((await readFleet(world.ledger)).slots).toSorted()

describe('the fleet item', () => {
  it('the fleet is at rest before its first grant', async () => {
    expect(await readFleet(world.ledger)).toEqual(FLEET_AT_REST)
  })

  it('CE6: exactly one of two concurrent grants of the last slot is written', async () => {
    await world.limit({ configured: 1 })
    const before = await readFleet(world.ledger)
    const both = await Promise.all(['a', 'b'].map((name) => write(before, granting(before, name), name)))
    expect(both.toSorted()).toEqual([false, true])
    expect(await heldNow()).toHaveLength(1)
  })

  it('CE6: exactly one of two concurrent first grants is written', async () => {
    const both = await Promise.all(['a', 'b'].map((name) => write(FLEET_AT_REST, granting(FLEET_AT_REST, name), name)))
    expect(both.toSorted()).toEqual([false, true])
    expect(await heldNow()).toHaveLength(1)
  })

  it('grants of different reviews don’t refuse each other while there is room for both', async () => {
    await world.limit({ configured: 2 })
    const before = await readFleet(world.ledger)
    expect(await write(before, granting(before, 'a'), 'w1')).toBe(true)
    expect(await write(before, granting(before, 'b'), 'w2')).toBe(true)
    expect(await write(before, granting(before, 'c'), 'w3')).toBe(false)
    expect(await heldNow()).toEqual(['a', 'b'])
  })

  it('exactly one of two grants of the same review is written', async () => {
    await world.limit({})
    const before = await readFleet(world.ledger)
    expect(await write(before, granting(before, 'a'), 'w1')).toBe(true)
    expect(await write(before, granting(before, 'a'), 'w2')).toBe(false)
  })

  it.each([
    ['a repository', { perRepository: 1 }],
    ['a pool', { pools: { lambda: { configured: 1 } } }],
  ])('I1: where %s has a ceiling of its own, a grant is refused after another grant', async (_, limits) => {
    await world.limit(limits)
    const before = await readFleet(world.ledger)
    expect(await write(before, granting(before, 'a'), 'w1')).toBe(true)
    expect(await write(before, granting(before, 'b'), 'w2')).toBe(false)
    expect(await heldNow()).toEqual(['a'])
  })

  it('no grant refuses a release, and the released slot can be granted in the same write', async () => {
    await world.limit({ configured: 2 })
    const rest = await readFleet(world.ledger)
    await write(rest, granting(rest, 'a'), 'w1')
    const before = await readFleet(world.ledger)
    expect(await write(before, granting(before, 'b'), 'w2')).toBe(true)
    expect(await write(before, granting(releasing(before, 'a'), 'c'), 'w3')).toBe(true)
    expect(await heldNow()).toEqual(['b', 'c'])
    expect(await write(before, releasing(before, 'a'), 'w4')).toBe(true) // is released
    expect(await write(before, granting(releasing(before, 'a'), 'd'), 'w5')).toBe(false)
  })

  it('a late release leaves the slot of a later epoch alone', async () => {
    await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w1')
    const before = await readFleet(world.ledger)
    const again = withGrants(before, [ticket('a', { epoch: 2 })], world.now)
    expect(await write(before, again, 'w2')).toBe(true)
    expect(await write(before, releasing(before, 'a'), 'w3')).toBe(true)
    expect(await readFleet(world.ledger)).toMatchObject({ slots: { a: { epoch: 2 } } })
  })

  it('I1: a grant is refused after a change of limits or closings', async () => {
    await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w1')
    const before = await readFleet(world.ledger)
    await updateLimits(world.ledger, { configured: 1 }, { writer: 'u', now: world.now })
    expect(await write(before, granting(before, 'b'), 'w2')).toBe(false)
    const now = await readFleet(world.ledger)
    const closed = closedBy(now, { reviewId: 'a', epoch: 1 }, { until: world.now + 1, now: world.now })
    expect(await write(now, closed, 'w3')).toBe(true)
    expect(await write(now, closed, 'w4')).toBe(false)
    expect(await readFleet(world.ledger)).toMatchObject({ closed: closed.closed, version: now.version + 1 })
  })

  it.each(['PutItem', 'UpdateItem'])('AW32: a %s whose answer was lost is written', async (operation) => {
    if (operation === 'UpdateItem') await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w0')
    const before = await readFleet(world.ledger)
    world.wire.loseAnswer((request) => request.operation === operation)
    expect(await write(before, granting(before, 'b'), 'w1')).toBe(true)
    expect(await readFleet(world.ledger)).toMatchObject({ granted: before.granted + 1 })
  })

  it('the fleet is due from its first grant until a sweep finds no slot, and no write postpones a busy fleet', async () => {
    await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w1')
    const dueAt = world.now + world.ledger.timings.recheckMs
    world.now += 30_000
    const before = await readFleet(world.ledger)
    await write(before, granting(before, 'b'), 'w2')
    await restFleet(world.ledger)
    expect(await world.item(keyOf.fleet())).toMatchObject({ dueAt })
    const full = await readFleet(world.ledger)
    await write(full, releasing(releasing(full, 'a'), 'b'), 'w3')
    await restFleet(world.ledger)
    expect(await world.item(keyOf.fleet())).not.toHaveProperty('dueAt')
    const empty = await readFleet(world.ledger)
    await write(empty, granting(empty, 'c'), 'w4')
    expect(await world.item(keyOf.fleet())).toMatchObject({ dueAt: world.now + world.ledger.timings.recheckMs })
  })

  it('IL13: the fleet is due while a pool is closed, also without any slot', async () => {
    await write(FLEET_AT_REST, granting(FLEET_AT_REST, 'a'), 'w1')
    const before = await readFleet(world.ledger)
    const place = { reviewId: 'a', epoch: 1 }
    const closed = closedBy(before, place, { until: world.now + 9_000, now: world.now })
    await write(before, withoutSlots(closed, [place]), 'w2')
    await restFleet(world.ledger)
    expect(await world.item(keyOf.fleet())).toHaveProperty('dueAt')
  })

  it('a fleet item without the members of newer versions can be granted on', async () => {
    await world.put({ ...keyOf.fleet(), limits: FLEET_AT_REST.limits, slots: {}, version: 1 })
    const before = await readFleet(world.ledger)
    expect(await write(before, granting(before, 'a'), 'w1')).toBe(true)
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

  it('a change of limits keeps slots and all other members under concurrent grants', async () => {
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

  it('CE4: the second of two changes that break a rule together is refused, and the stored item never breaks the rule', async () => {
    afterRead(() => update({ accountQuota: 16 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2')).toMatchObject({ kind: 'refused', limit: 'accountQuota' })
    expect(await stored()).toMatchObject({ configured: 15, accountQuota: 16 })
  })

  it('CE4: two compatible changes both take effect', async () => {
    afterRead(() => update({ perRepository: 3 }, 'u1'))
    await update({ configured: 50 }, 'u2')
    expect(await stored()).toMatchObject({ configured: 50, perRepository: 3 })
  })

  it('CE5: a change that a concurrent change makes valid is accepted', async () => {
    await update({ accountQuota: 16 }, 'u0')
    afterRead(() => update({ accountQuota: 60 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2')).toMatchObject({ kind: 'changed', limits: { configured: 50 } })
  })

  it('a change for an outdated revision is refused', async () => {
    afterRead(() => update({ perRepository: 3 }, 'u1'))
    expect(await update({ configured: 50 }, 'u2', 0)).toMatchObject({ code: 'limits_changed' })
    expect(await update({ configured: 50 }, 'u3', 1)).toMatchObject({ kind: 'changed' })
  })

  it('AW32: a change whose answer was lost is done once', async () => {
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

  it('a repeated ticket is one ticket; the ticket of a later epoch is another', async () => {
    for (const epoch of [1, 1, 2]) await queueTicket(world.ledger, ticket('r', { epoch }), 'n')
    const [queue] = await readQueues(world.ledger)
    if (!queue) throw new Error('Expected a queue, found none')
    expect(await readTickets(world.ledger, queue, 9)).toHaveLength(2)
    await dropTicket(world.ledger, ticket('r', { epoch: 1 }))
    expect(await readTickets(world.ledger, queue, 9)).toMatchObject([{ epoch: 2 }]) // IL9
  })

  it('a ticket and its marker expire after the retention, so that a late write goes too', async () => {
    const expiresAt = 1_700_000_000 + 90 * 24 * 3600
    await queueTicket(world.ledger, ticket('r', { turn: 5 }), 'n', 1_700_000_000_900)
    const { pk, sk } = keyOf.ticket(7, 'lambda', 5, 'r', 1)
    expect(await world.item({ pk, sk })).toMatchObject({ expiresAt })
    expect(await world.item(keyOf.queue(7, 'lambda'))).toMatchObject({ expiresAt })
  })

  it('IL8: a marker lives as long as the last ticket of its queue', async () => {
    await queueTicket(world.ledger, ticket('first'), 'n1', 1_700_000_000_900)
    await queueTicket(world.ledger, ticket('second'), 'n2', 1_700_000_060_900)
    expect(await world.item(keyOf.queue(7, 'lambda'))).toMatchObject({ expiresAt: 1_700_000_060 + 90 * 24 * 3600 })
  })

  it('IL8: a marker that a ticket has renewed since the read is not deleted', async () => {
    await queueTicket(world.ledger, ticket('first'), 'n1')
    await dropTicket(world.ledger, ticket('first'))
    const [seen] = await readQueues(world.ledger)
    if (!seen) throw new Error('Expected a queue, found none')
    await queueTicket(world.ledger, ticket('second'), 'n2')
    await dropQueue(world.ledger, seen)
    expect(await readQueues(world.ledger)).toMatchObject([{ nonce: 'n2' }])
  })

  it('the reader of an empty queue deletes the queue’s marker', async () => {
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
