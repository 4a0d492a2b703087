import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isFailure } from '../../../shared/base/errors.ts'
import type { Coordinator } from '../../../shared/coordinator/coordinator.ts'
import { openLedger } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { admitted, heldParts, stored, toldParts, waitingItems, worked } from './fleet-of-tests.ts'

const PLACES = 3
const TAKERS = 30
const COORDINATORS = 5

let world: World
let coordinators: Coordinator[]
beforeEach(async () => {
  world = await startWorld()
  coordinators = Array.from({ length: COORDINATORS }, () => ({
    ...world.coordinator,
    ledger: openLedger(world.ledger.table, world.ledger.timings),
    nonce: randomUUID,
  }))
})
afterEach(() => world.close())

const coordinatorOf = (part: number): Coordinator => coordinators[part % COORDINATORS] ?? world.coordinator

/** Repeats an action that may be `busy`, as the state machine retries a room. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isFailure(error, 'retry')) throw error
    }
  }
}

const admitAll = () =>
  Promise.all(
    Array.from({ length: TAKERS }, (_, part) =>
      persistently(() => admitted(world, part, { turn: 1_000 + part }, coordinatorOf(part))),
    ),
  )

describe(`${TAKERS} takers of ${PLACES} slots, ${COORDINATORS} coordinators at once`, () => {
  it(`I1, CE1: exactly ${PLACES} are granted and told, and all others wait`, async () => {
    await world.limit({ configured: PLACES })
    await admitAll()
    const held = await heldParts(world)
    expect(held).toHaveLength(PLACES)
    expect(toldParts(world).toSorted((a, b) => a - b)).toEqual(held)
    expect((await waitingItems(world)).tickets).toHaveLength(TAKERS - PLACES)
  })

  it('I1: every released slot is granted again, each taker once, never beyond the slots, and no taker is left', async () => {
    await world.limit({ configured: PLACES })
    let releasing = 0
    let most = 0
    const done = new Set<number>()
    const works: Promise<unknown>[] = []
    const startWorkers = () => {
      most = Math.max(most, world.answers.length - releasing)
      for (const part of toldParts(world)) {
        if (done.has(part)) continue
        done.add(part)
        works.push(
          (async () => {
            const review = await stored(world, part)
            releasing += 1
            expect(await worked(world, review, { coordinator: coordinatorOf(part + 1) })).toBe('completed')
            startWorkers()
          })(),
        )
      }
    }
    await admitAll()
    startWorkers()
    for (let awaited = 0; awaited < works.length; awaited += 1) await works[awaited]
    expect(done.size).toBe(TAKERS)
    expect(world.answers).toHaveLength(TAKERS)
    expect(most).toBeLessThanOrEqual(PLACES)
    expect(await heldParts(world)).toEqual([])
    expect(await waitingItems(world)).toEqual({ markers: 0, tickets: [] })
  })
})
