import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CONTENT_PER_MINUTE_MAX } from '../../../shared/base/limits.ts'
import { closeBudget, takeBudget } from '../../../shared/ledger/budget.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const INSTALLATION = 70
const take = () => takeBudget(world.ledger, INSTALLATION, world.now)

describe("an installation's budget in the ledger", () => {
  it('AW76: creations of concurrent posters are all counted, and together never pass the limit', async () => {
    const taken: boolean[] = []
    for (let round = 0; round < CONTENT_PER_MINUTE_MAX / 4 + 2; round += 1) {
      const four = await Promise.all([take(), take(), take(), take()])
      taken.push(...four.map((one) => one.taken))
    }
    expect(taken.filter(Boolean)).toHaveLength(CONTENT_PER_MINUTE_MAX)
  })

  it('AW76: an exhausted budget names the time at which the next creation is free', async () => {
    for (let count = 0; count < CONTENT_PER_MINUTE_MAX; count += 1) await take()
    const spent = await take()
    expect(spent).toMatchObject({ taken: false })
    world.now = spent.taken ? world.now : spent.until
    expect(await take()).toEqual({ taken: true })
  })

  it('R4: the budget is closed until GitHub’s latest time, whatever the count, and counts on afterwards', async () => {
    await take()
    await closeBudget(world.ledger, INSTALLATION, world.now + 60_000)
    await closeBudget(world.ledger, INSTALLATION, world.now + 1_000)
    expect(await take()).toEqual({ taken: false, until: world.now + 60_000 })
    world.now += 60_000
    expect(await take()).toEqual({ taken: true })
  })

  it('taking from a budget costs one write, and another installation has a budget of its own', async () => {
    for (let count = 0; count < CONTENT_PER_MINUTE_MAX; count += 1) await take()
    world.wire.passed.length = 0
    expect(await takeBudget(world.ledger, 71, world.now)).toEqual({ taken: true })
    expect(world.wire.passed.map(({ operation }) => operation)).toEqual(['GetItem', 'UpdateItem'])
    expect(await world.item(keyOf.budget(71))).toMatchObject({ version: 1 })
  })
})
