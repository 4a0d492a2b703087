import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { QUEUES_LOOKED_INTO_MAX } from '../../../shared/base/limits.ts'
import { closePool, grantSlots, openPool, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { queueTicket, readFleet } from '../../../shared/ledger/fleet.ts'
import { ticketOf } from '../../../shared/ledger/review.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { about, admitted, asked, FLEET, heldParts, stored, worked } from './fleet-of-tests.ts'

const MINUTE = 60_000
const model = { pool: 'model/a' }

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

/** Part 0 works and is throttled: its slot goes, its pool is closed for a minute. */
async function throttled(): Promise<void> {
  const review = await admitted(world, 0, model)
  await closePool(world.coordinator, slotOf(review), world.now + MINUTE)
}

describe('a throttled pool', () => {
  it('is closed in the same write that releases the slot, and other pools get the free slot', async () => {
    await world.limit({ configured: 1 })
    await admitted(world, 0, model)
    await admitted(world, 1, model)
    await admitted(world, 2)
    world.wire.passed.length = 0
    await closePool(world.coordinator, slotOf(await stored(world, 0)), world.now + MINUTE)
    expect(world.wire.passed.filter(about('UpdateItem', FLEET))).toHaveLength(1)
    expect(await heldParts(world)).toEqual([2])
    expect((await readFleet(world.ledger)).closed).toEqual({
      'model/a': { since: world.now, until: world.now + MINUTE },
    })
  })

  it('lets reviews wait until its time, then grants a single probe, and no second while the probe works', async () => {
    await throttled()
    for (const part of [1, 2, 3]) await admitted(world, part, model)
    expect(await heldParts(world)).toEqual([])
    world.now += MINUTE
    await grantSlots(world.coordinator)
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual([1])
  })

  it('IL13: is opened by its probe before the probe is done, and all waiting reviews are granted', async () => {
    await throttled()
    for (const part of [1, 2, 3]) await admitted(world, part, model)
    world.now += MINUTE
    await grantSlots(world.coordinator)
    await openPool(world.coordinator, slotOf(await stored(world, 1)))
    expect(await heldParts(world)).toEqual([1, 2, 3])
    expect((await readFleet(world.ledger)).closed).toEqual({})
  })

  it('stays closed after a probe without an answer of the model, for the next probe', async () => {
    await throttled()
    for (const part of [1, 2]) await admitted(world, part, model)
    world.now += MINUTE
    await grantSlots(world.coordinator)
    await worked(world, await stored(world, 1))
    expect(await heldParts(world)).toEqual([2])
    expect((await readFleet(world.ledger)).closed).toHaveProperty(['model/a'])
  })

  it('I8: is neither closed nor opened by a replaced worker', async () => {
    const review = await admitted(world, 0, model)
    await closePool(world.coordinator, { ...slotOf(review), epoch: 0 }, world.now + MINUTE)
    expect((await readFleet(world.ledger)).closed).toEqual({})
    expect(await heldParts(world)).toEqual([0])
  })
})

it('no queue is left out, even with more queues than one hand-over reads', async () => {
  const count = QUEUES_LOOKED_INTO_MAX + 10
  await world.limit({ configured: 5 })
  for (let id = 0; id < count; id += 1) {
    const repository = { id, owner: 'acme', name: `r${id}`, installationId: 70 }
    await queueTicket(world.ledger, ticketOf(await asked(world, id, { repository })), 'n')
  }
  const done = new Set<number>()
  await grantSlots(world.coordinator)
  for (let held = await heldParts(world); held.length > 0; held = await heldParts(world)) {
    for (const part of held) {
      done.add(part)
      await worked(world, await stored(world, part))
    }
  }
  expect(done.size).toBe(count)
})
