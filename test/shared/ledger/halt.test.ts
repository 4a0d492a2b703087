import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HALT_BY_BYTES_MAX, HALT_WHY_BYTES_MAX, HALTS_MAX } from '../../../shared/base/limits.ts'
import { byteLength } from '../../../shared/base/text.ts'
import {
  type HaltScope,
  haltOn,
  haltScopesOf,
  liftHalt,
  setHalt,
  standingHalt,
  standingHalts,
} from '../../../shared/ledger/halt.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { isPause, pausedBy } from '../../../shared/runs/halt.ts'
import { repository } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const halt = (scope: HaltScope, since = 1) =>
  setHalt(world.ledger, { scope, by: 'a person', why: 'an incident', since })

describe('halts', () => {
  it('no halt stands before the first is set, and lifting a missing halt answers none', async () => {
    expect(await standingHalts(world.ledger)).toEqual({})
    expect(await liftHalt(world.ledger, 'fleet')).toEqual({ kind: 'none' })
    expect(await world.item(keyOf.halts())).toBeUndefined()
  })

  it.each(haltScopesOf(repository))('one of %s stands for its repository until it is lifted', async (scope) => {
    await halt(scope)
    const standing = { scope, by: 'a person', why: 'an incident', since: 1 }
    expect(await standingHalt(world.ledger, repository)).toEqual(standing)
    expect(await liftHalt(world.ledger, scope)).toEqual({ kind: 'lifted', halt: standing })
    expect(await standingHalt(world.ledger, repository)).toBeUndefined()
  })

  it('lifting the halt of one scope leaves the halts of other scopes', async () => {
    const [fleet, installation, repositoryScope] = haltScopesOf(repository) as [HaltScope, HaltScope, HaltScope]
    for (const scope of [repositoryScope, installation, fleet, 'repository/8'] as const) await halt(scope)
    expect(haltOn(await standingHalts(world.ledger), repository)?.scope).toBe(fleet)
    await liftHalt(world.ledger, fleet)
    expect(haltOn(await standingHalts(world.ledger), repository)?.scope).toBe(installation)
    await liftHalt(world.ledger, installation)
    expect(haltOn(await standingHalts(world.ledger), repository)?.scope).toBe(repositoryScope)
    expect(haltOn(await standingHalts(world.ledger), { id: 9, installationId: 9 })).toBeUndefined()
  })

  it('I9: a repeated halt keeps its author and its beginning', async () => {
    await halt('fleet', 1)
    expect(await halt('fleet', 2)).toMatchObject({ since: 1 })
    expect(await world.item(keyOf.halts())).toMatchObject({ version: 1 })
  })

  const paused = { scope: 'repository/7', by: pausedBy('alice'), why: 'noise', since: 1 } as const
  const halted = { scope: 'repository/7', by: 'Operators/ana', why: 'leaked key', since: 2 } as const

  it('an operator’s halt replaces a pause, and a pause replaces no operator’s halt', async () => {
    await setHalt(world.ledger, paused)
    expect(await setHalt(world.ledger, halted)).toEqual({ ...halted, since: 1 })
    expect(await standingHalt(world.ledger, repository)).toEqual({ ...halted, since: 1 })
    expect(await setHalt(world.ledger, { ...paused, since: 3 })).toEqual({ ...halted, since: 1 })
    expect(await standingHalt(world.ledger, repository)).toEqual({ ...halted, since: 1 })
  })

  it('I9: a pause over a pause, and a halt of an operator over another one, change nothing', async () => {
    await setHalt(world.ledger, paused)
    expect(await setHalt(world.ledger, { ...paused, by: pausedBy('rob'), why: 'other', since: 2 })).toEqual(paused)
    await liftHalt(world.ledger, 'repository/7')
    await setHalt(world.ledger, halted)
    expect(await setHalt(world.ledger, { ...halted, by: 'Operators/eva', why: 'other', since: 3 })).toEqual(halted)
  })

  it('AW32: an operator’s halt over a pause whose answer was lost is set once, and answered', async () => {
    await setHalt(world.ledger, paused)
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await setHalt(world.ledger, halted)).toEqual({ ...halted, since: 1 })
    expect(await world.item(keyOf.halts())).toMatchObject({ version: 2 })
  })

  it('a halt that the caller may not lift stays, and is returned', async () => {
    await setHalt(world.ledger, halted)
    expect(await liftHalt(world.ledger, 'repository/7', isPause)).toEqual({ kind: 'stays', halt: halted })
    expect(await standingHalt(world.ledger, repository)).toEqual(halted)
    await liftHalt(world.ledger, 'repository/7')
    await setHalt(world.ledger, paused)
    expect(await liftHalt(world.ledger, 'repository/7', isPause)).toEqual({ kind: 'lifted', halt: paused })
  })

  it('an operator halts between the reading and the writing of who lifts a pause: the halt stays', async () => {
    await setHalt(world.ledger, paused)
    world.wire.beforeAnswer(
      ({ operation }) => operation === 'GetItem',
      async () => void (await setHalt(world.ledger, halted)),
    )
    expect(await liftHalt(world.ledger, 'repository/7', isPause)).toEqual({
      kind: 'stays',
      halt: { ...halted, since: 1 },
    })
    expect(await standingHalt(world.ledger, repository)).toEqual({ ...halted, since: 1 })
  })

  it('concurrent changes lose no halt, not even the first', async () => {
    const scopes = [1, 2, 3, 4, 5].map((id): HaltScope => `repository/${id}`)
    await Promise.all(scopes.map((scope) => halt(scope)))
    expect(Object.keys(await standingHalts(world.ledger)).toSorted()).toEqual(scopes)
    const lifted = scopes.slice(0, 3)
    await Promise.all([...lifted.map((scope) => liftHalt(world.ledger, scope)), halt('fleet')])
    expect(Object.keys(await standingHalts(world.ledger)).toSorted()).toEqual(['fleet', ...scopes.slice(3)])
  })

  it('AW32: a halt whose answer was lost is set once, and returned', async () => {
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await halt('fleet')).toMatchObject({ scope: 'fleet', since: 1 })
    expect(await world.item(keyOf.halts())).toMatchObject({ version: 1 })
  })

  it('a full item refuses one more halt, takes a halt after a lift, and stays below the size of an item', async () => {
    const longest = { by: 'b'.repeat(HALT_BY_BYTES_MAX), why: 'w'.repeat(HALT_WHY_BYTES_MAX), since: 1 }
    const scopeOf = (index: number): HaltScope => `installation/${9_000_000_000_000 + index}`
    const scopes = Object.fromEntries(Array.from({ length: HALTS_MAX }, (_, index) => [scopeOf(index), longest]))
    expect(byteLength(JSON.stringify(scopes))).toBeLessThan(380_000)
    await world.put({ ...keyOf.halts(), scopes, version: 1 })
    await expect(halt('fleet')).rejects.toMatchObject({ name: 'refused', code: 'halts_full' })
    expect(await halt(scopeOf(0))).toMatchObject({ since: 1 })
    await liftHalt(world.ledger, scopeOf(0))
    expect(await halt('fleet')).toMatchObject({ scope: 'fleet' })
  })

  it('a long name or reason is cut with a visible mark', async () => {
    await setHalt(world.ledger, { scope: 'fleet', by: 'é'.repeat(1_000), why: 'é'.repeat(1_000), since: 1 })
    const standing = await standingHalt(world.ledger, repository)
    expect(byteLength(standing?.why ?? '')).toBeLessThanOrEqual(HALT_WHY_BYTES_MAX)
    expect(byteLength(standing?.by ?? '')).toBeLessThanOrEqual(HALT_BY_BYTES_MAX)
    expect(standing?.why).toMatch(/… \[cut\]$/)
  })
})
