import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setLimits } from '../../../functions/api/fleet.ts'
import { FLEET_SLOTS_MAX, GRANT_FRESH_MS, SLOTS_PER_WRITE_MAX } from '../../../shared/base/limits.ts'
import { enqueue, finishGrant, grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { FLEET_AT_REST, type Ticket, withGrants } from '../../../shared/fleet/schedule.ts'
import { queueTicket, readFleet, writeFleet } from '../../../shared/ledger/fleet.ts'
import { completeReview, endReview, leaseReview, takeBack, ticketOf } from '../../../shared/ledger/review.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Review } from '../../../shared/runs/review.ts'
import { startWorld, type World } from '../ledger/world.ts'
import {
  about,
  admitted,
  asked,
  FLEET,
  heldParts,
  idOf,
  stored,
  toldParts,
  waitingItems,
  worked,
} from './fleet-of-tests.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const range = (length: number) => Array.from({ length }, (_, index) => index)

/** The fleet is written with these grants, and their writer dies. */
async function grantAndDie(...tickets: Ticket[]): Promise<void> {
  const before = await readFleet(world.ledger)
  const next = withGrants(before, tickets, world.now)
  expect(await writeFleet(world.ledger, before, next, 'one who dies', world.now)).toBe(true)
  world.now += GRANT_FRESH_MS
}

/** The review's grant or lease has ended, and the review is taken back, without any further step. */
async function takenBack(part: number): Promise<Review> {
  const review = await stored(world, part)
  world.now = (review.until ?? 0) + 1
  const { taken, review: after } = await takeBack(world.ledger, review, world.now)
  expect(taken).toBe(true)
  return after
}

describe('the ceiling', () => {
  it('CE1: at 15, of 20 reviews of 4 runs exactly 15 have a slot and 5 wait with their tickets', async () => {
    for (const part of range(20)) await admitted(world, part, { runId: String(part % 4).repeat(64) })
    expect(await heldParts(world)).toEqual(range(15))
    expect((await waitingItems(world)).tickets).toHaveLength(5)
    expect(toldParts(world)).toEqual(range(15))
  })

  it('CE3: with concurrency disabled a single review runs at a time, in order of turn', async () => {
    await world.limit({ enabled: false })
    for (const part of [2, 0, 1]) await admitted(world, part)
    const order: number[] = []
    for (let held = await heldParts(world); held.length > 0; held = await heldParts(world)) {
      expect(held).toHaveLength(1)
      order.push(...held)
      await worked(world, await stored(world, held[0] ?? 0))
    }
    expect(order).toEqual([2, 0, 1])
  })

  it('CE6: of two reviews asking for the last slot, exactly one gets the slot', async () => {
    await world.limit({ configured: 1 })
    await Promise.all([admitted(world, 0), admitted(world, 1)])
    expect(await heldParts(world)).toHaveLength(1)
    expect(toldParts(world)).toEqual(await heldParts(world))
    expect((await waitingItems(world)).tickets).toHaveLength(1)
  })

  it('CE7, AW43: a lowered limit ends no review, and grants none before fewer run', async () => {
    await world.limit({ configured: 7 })
    for (const part of range(8)) await admitted(world, part)
    await world.limit({ configured: 5 })
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual(range(7))
    for (const part of [0, 1]) await worked(world, await stored(world, part))
    expect(await heldParts(world)).toEqual([2, 3, 4, 5, 6])
    await worked(world, await stored(world, 2))
    expect(await heldParts(world)).toEqual([3, 4, 5, 6, 7])
  })

  it(`more slots than fit into a write are granted and released in several writes: ${FLEET_SLOTS_MAX} at once`, async () => {
    const slots = Object.fromEntries(
      range(FLEET_SLOTS_MAX).map((part) => [idOf(part), { epoch: 1, repository: 7, pool: 'lambda', since: 0 }]),
    )
    await world.put({ ...keyOf.fleet(), ...FLEET_AT_REST, slots, version: 1 })
    const count = 2 * SLOTS_PER_WRITE_MAX + 1
    for (const part of range(count)) await queueTicket(world.ledger, ticketOf(await asked(world, 300 + part)), 'n')
    await world.limit({ configured: FLEET_SLOTS_MAX })
    await grantSlots(
      world.coordinator,
      range(FLEET_SLOTS_MAX).map((part) => ({ reviewId: idOf(part), epoch: 1 })),
    )
    expect(await heldParts(world)).toEqual(range(count).map((part) => 300 + part))
    expect(toldParts(world)).toHaveLength(count)
  })

  it('the smallest turns go first over all queues, however long a queue', async () => {
    const other = { repository: { id: 8, owner: 'acme', name: 'other', installationId: 70 } }
    for (const part of range(26)) await queueTicket(world.ledger, ticketOf(await asked(world, part)), `n${part}`)
    for (const part of range(4)) {
      await queueTicket(world.ledger, ticketOf(await asked(world, 100 + part, other)), `m${part}`)
    }
    await world.limit({ configured: 25 })
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual(range(25))
  })
})

describe('setLimits', () => {
  it('CE7, AW43: lowered from 15 to 5 while 15 run, no review is ended, and none gets a slot before fewer than 5 run', async () => {
    for (const part of range(17)) await admitted(world, part)
    await setLimits(world.coordinator, { configured: 5 })
    expect(await heldParts(world)).toEqual(range(15))
    for (const part of range(10)) await worked(world, await stored(world, part))
    expect(await heldParts(world)).toEqual([10, 11, 12, 13, 14])
    await worked(world, await stored(world, 10))
    expect(await heldParts(world)).toEqual([11, 12, 13, 14, 15])
  })

  it('IL13: a raise grants at once', async () => {
    await setLimits(world.coordinator, { configured: 1 })
    for (const part of range(4)) await admitted(world, part)
    expect(await setLimits(world.coordinator, { configured: 3 })).toMatchObject({ kind: 'changed' })
    expect(await heldParts(world)).toEqual(range(3))
    expect(toldParts(world)).toEqual(range(3))
  })

  it('CE2: a refused change has no effect', async () => {
    expect(await setLimits(world.coordinator, { configured: 500 })).toMatchObject({ code: 'limit_above_ceiling' })
    expect(await world.items()).toEqual([])
  })
})

describe('no lost wake-up', () => {
  it('IL8: a ticket written after its queue was seen empty gets a slot, and its marker stays', async () => {
    await world.limit({ configured: 1 })
    const first = await admitted(world, 0)
    await queueTicket(world.ledger, ticketOf(await asked(world, 5)), 'n')
    await finishGrant(world.coordinator, ticketOf(await stored(world, 5))) // leaves an empty queue with its marker
    world.wire.beforeAnswer(about('Query', 'QUEUE#'), async () => {
      await admitted(world, 1)
    })
    await grantSlots(world.coordinator, [slotOf(first)])
    expect(await heldParts(world)).toEqual([1])
    expect(toldParts(world)).toContain(1)
  })

  it('IL8: a ticket whose marker comes after the look at its queue gets a slot by its own writer', async () => {
    await world.limit({ configured: 1 })
    const first = await admitted(world, 0)
    world.wire.beforeAnswer(about('PutItem', 'QUEUE#'), () => grantSlots(world.coordinator, [slotOf(first)]))
    await admitted(world, 1)
    expect(await heldParts(world)).toEqual([1])
  })

  it('IL13: a ticket written during a raise of the limit gets a slot', async () => {
    await world.limit({ configured: 1 })
    await admitted(world, 0)
    world.wire.beforeAnswer(about('PutItem', 'QUEUE#'), async () => {
      await world.limit({ configured: 2 })
      await grantSlots(world.coordinator)
    })
    await admitted(world, 1)
    expect(await heldParts(world)).toEqual([0, 1])
  })

  it('IL13: a ticket that saw the fleet full gets a slot by the process that raises the limit afterwards', async () => {
    await world.limit({ configured: 1 })
    await admitted(world, 0)
    world.wire.beforeAnswer(about('GetItem', FLEET), () => world.limit({ configured: 2 }))
    await admitted(world, 1)
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual([0, 1])
  })

  it('a grant that meets a change of the limits is decided again under the new limits', async () => {
    await world.limit({ configured: 3 })
    await admitted(world, 0)
    world.wire.beforeAnswer(about('Query', FLEET), () => world.limit({ configured: 1 }))
    await admitted(world, 1)
    expect(await heldParts(world)).toEqual([0])
    expect((await waitingItems(world)).tickets).toHaveLength(1)
  })

  it('a slot granted to a void ticket goes to the next ticket, even with writes of the fleet in between', async () => {
    await world.limit({ configured: 1 })
    const ended = await asked(world, 0)
    await endReview(world.ledger, ended)
    for (const review of [ended, await asked(world, 1)]) await queueTicket(world.ledger, ticketOf(review), 'n')
    // The void slot is released in the second round, whose write is refused after another write of the fleet.
    world.wire.beforeAnswer(about('GetItem', FLEET), async () => {
      world.wire.beforeAnswer(about('GetItem', FLEET), () => world.limit({}))
    })
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual([1])
    expect((await waitingItems(world)).tickets).toEqual([])
  })

  it('a slot granted at once to a review ended meanwhile is free at once', async () => {
    const ended = await asked(world, 0)
    await endReview(world.ledger, ended)
    await enqueue(world.coordinator, ended)
    expect(await heldParts(world)).toEqual([])
    expect(toldParts(world)).toEqual([])
  })

  it('I1: a ticket whose grant is being finished hides no ticket behind it', async () => {
    await world.limit({ configured: 2 })
    const [being, behind] = [await asked(world, 0), await asked(world, 1)]
    for (const review of [being, behind]) await queueTicket(world.ledger, ticketOf(review), 'n')
    const before = await readFleet(world.ledger)
    const granted = withGrants(before, [ticketOf(being)], world.now)
    await writeFleet(world.ledger, before, granted, 'one who finishes it', world.now)
    await grantSlots(world.coordinator)
    expect(await heldParts(world)).toEqual([0, 1])
    expect(toldParts(world)).toEqual([1])
  })
})

describe('an unfinished grant', () => {
  it('IL7: is finished by the next process that meets the ticket: the review is granted, its task told, its ticket gone', async () => {
    const review = await asked(world, 0)
    await queueTicket(world.ledger, ticketOf(review), 'n')
    await grantAndDie(ticketOf(review))
    await admitted(world, 1)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted' })
    expect(toldParts(world).toSorted()).toEqual([0, 1])
    expect((await waitingItems(world)).tickets).toEqual([])
  })

  it('IL7: is finished by a repeated Admit in a full fleet too, where no process looks at tickets', async () => {
    await world.limit({ configured: 1 })
    const review = await asked(world, 0)
    await queueTicket(world.ledger, ticketOf(review), 'n')
    await grantAndDie(ticketOf(review))
    await grantSlots(world.coordinator)
    expect(await stored(world, 0)).toMatchObject({ state: 'waiting' })
    await admitted(world, 0, { token: 'again-0' })
    expect(await stored(world, 0)).toMatchObject({ state: 'granted' })
    expect(world.answers).toEqual([{ token: 'again-0', output: { outcome: 'granted', epoch: 1 } }])
  })

  it('IL7: hides no waiting ticket, even with a whole page of such tickets', async () => {
    await world.limit({ configured: 40 })
    const reviews = []
    for (const part of range(21)) reviews.push(await asked(world, part))
    for (const review of reviews) await queueTicket(world.ledger, ticketOf(review), 'n')
    await grantAndDie(...reviews.slice(0, 20).map(ticketOf))
    await grantSlots(world.coordinator)
    expect(toldParts(world).toSorted((a, b) => a - b)).toEqual(range(21))
    expect(await waitingItems(world)).toEqual({ markers: 0, tickets: [] })
  })

  it('I1: whose finish fails delays no further grant, and is finished by the next process', async () => {
    const stuck = await asked(world, 0, { runId: 'e'.repeat(64) })
    for (const review of [stuck, await asked(world, 1)]) await queueTicket(world.ledger, ticketOf(review), 'n')
    const stop = world.wire.refuse(about('UpdateItem', `RUN#${stuck.runId}`), 'ValidationException')
    await expect(grantSlots(world.coordinator)).rejects.toThrow()
    expect(await stored(world, 1)).toMatchObject({ state: 'granted' })
    stop()
    world.now += GRANT_FRESH_MS
    await grantSlots(world.coordinator)
    expect(await stored(world, 0, { runId: stuck.runId })).toMatchObject({ state: 'granted' })
    expect(await waitingItems(world)).toEqual({ markers: 0, tickets: [] })
  })

  it('IL4: told twice, gets a dead answer while the worker holds the lease: nothing is taken back, the slot stays', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'worker', now: world.now })
    const before = await stored(world, 0)
    expect(await finishGrant(world.coordinator, ticketOf(review))).toBe('granted')
    expect(await stored(world, 0)).toEqual(before)
    expect(await heldParts(world)).toEqual([0])
    expect(world.answers).toHaveLength(1)
  })

  it('with a dead answer loses only the token, and runs to its end', async () => {
    world.deadTokens.add('token-0')
    const review = await admitted(world, 0)
    expect(review).toMatchObject({ state: 'granted', epoch: 1 })
    expect(review).not.toHaveProperty('token')
    expect(await heldParts(world)).toEqual([0])
    expect((await waitingItems(world)).tickets).toEqual([])
  })
})

describe('epochs', () => {
  it('IL9: a late grantor of epoch 1 leaves the ticket of epoch 2 alone', async () => {
    await world.limit({ configured: 1 })
    const first = await admitted(world, 0)
    const again = await takenBack(0)
    await grantSlots(world.coordinator, [slotOf(first)])
    await admitted(world, 1) // takes the slot, and epoch 2 waits
    await queueTicket(world.ledger, ticketOf(again), 'n')
    expect(await finishGrant(world.coordinator, ticketOf(first))).toBe('void')
    expect((await waitingItems(world)).tickets).toHaveLength(1)
    expect(await stored(world, 0)).toMatchObject({ state: 'waiting', epoch: 2 })
  })

  it('IL9: a late Admit of epoch 1 does not keep epoch 2 from its slot', async () => {
    await world.limit({ configured: 1 })
    const first = await admitted(world, 0)
    const again = await takenBack(0)
    await queueTicket(world.ledger, ticketOf(again), 'n2')
    await queueTicket(world.ledger, ticketOf(first), 'n1')
    await grantSlots(world.coordinator, [slotOf(first)])
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2 })
    expect((await readFleet(world.ledger)).slots).toMatchObject({ [ticketOf(again).reviewId]: { epoch: 2 } })
    await worked(world, await stored(world, 0))
    expect(await heldParts(world)).toEqual([])
    expect(await waitingItems(world)).toEqual({ markers: 0, tickets: [] })
  })

  it('a slot of an earlier epoch is void: a ticket of the later epoch replaces the slot', async () => {
    await world.limit({ configured: 2 })
    await admitted(world, 0)
    const again = ticketOf(await takenBack(0))
    await queueTicket(world.ledger, again, 'n')
    await grantSlots(world.coordinator)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2 })
    expect((await readFleet(world.ledger)).slots).toEqual({ [again.reviewId]: expect.objectContaining({ epoch: 2 }) })
  })

  it('a late release of epoch 1 leaves the slot of epoch 2 held', async () => {
    const first = await admitted(world, 0)
    const again = await takenBack(0)
    await grantSlots(world.coordinator, [slotOf(first)])
    await queueTicket(world.ledger, ticketOf(again), 'n')
    await grantSlots(world.coordinator)
    await grantSlots(world.coordinator, [slotOf(first)])
    expect(await heldParts(world)).toEqual([0])
  })

  it('IL3: a worker whose lease was taken back is stale; its iteration comes back, and the review is done once', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'slow', now: world.now })
    const planned = await takenBack(0)
    await grantSlots(world.coordinator, [slotOf(review)])
    const outcome = { state: 'completed', result: 'late', findings: 0, blocking: 0 } as const
    expect(await completeReview(world.ledger, review, { epoch: 1, owner: 'slow' }, outcome)).toEqual({ kind: 'stale' })
    expect(planned).toMatchObject({ state: 'planned', epoch: 2 })
    const back = await admitted(world, 0, { token: 'back-0' })
    expect(await worked(world, back)).toBe('completed')
    expect(await worked(world, review)).toBe('stale')
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 2 })
    expect((await stored(world, 0)).result).not.toBe('late')
  })
})
