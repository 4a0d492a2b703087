import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  leaseResource,
  postponeResource,
  raiseResource,
  raiseWhileEnding,
  readResource,
  recordShown,
  type ShownResource,
} from '../../../shared/ledger/resource.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const name = { repositoryId: 7, number: 42, kind: 'check_run', key: 'head' }
const key = keyOf.resource(name.repositoryId, name.number, name.kind, name.key)
const raise = (document: string) => raiseResource(world.ledger, { ...name, runId: 'run', document, now: world.now })
const lease = (resource: ShownResource, owner: string) => leaseResource(world.ledger, resource, owner, world.now)
const shown = (resource: ShownResource, owner: string, lookAgainAt?: number) =>
  recordShown(world.ledger, resource, owner, {
    now: world.now,
    githubId: 5,
    ...(lookAgainAt === undefined ? {} : { lookAgainAt }),
  })

async function stored(): Promise<ShownResource> {
  const resource = await readResource(world.ledger, name)
  if (!resource) throw new Error('Expected the resource to be stored, found none')
  return resource
}

describe('a resource', () => {
  it('every raise is a generation of its own, also of many at once', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map(raise))
    expect(await stored()).toMatchObject({ generation: 4, shownGeneration: 0, errors: 0, leaseUntil: 0 })
  })

  it('shown at its newest generation, nothing more is due for it', async () => {
    await raise('a')
    const resource = await stored()
    expect(await lease(resource, 'x')).toBe(true)
    await shown(resource, 'x')
    expect(await stored()).toMatchObject({ shownGeneration: 1, githubId: 5, leaseUntil: 0 })
    for (const member of ['dueAt', 'owner']) expect(await world.item(key)).not.toHaveProperty(member)
  })

  it('IL5: raised while an older generation was being shown, it is due at once', async () => {
    await raise('a')
    const resource = await stored()
    await lease(resource, 'x')
    await raise('b')
    await shown(resource, 'x')
    expect(await stored()).toMatchObject({ generation: 2, shownGeneration: 1, document: 'b', dueAt: world.now })
  })

  it('IL5: a poster that was replaced records nothing', async () => {
    await raise('a')
    const first = await stored()
    await lease(first, 'x')
    world.now = (await stored()).leaseUntil + 1
    await raise('b')
    const second = await stored()
    expect(await lease(second, 'y')).toBe(true)
    await shown(second, 'y', world.now + 60_000)
    const before = await stored()
    await shown(first, 'x')
    await postponeResource(world.ledger, first, 'x', { at: 1, error: 'late' })
    expect(await stored()).toEqual(before)
    const at = world.now + 60_000
    expect(before).toMatchObject({ generation: 2, shownGeneration: 2, dueAt: at, lookAt: at })
  })

  it('of two posters one works on it', async () => {
    await raise('a')
    const resource = await stored()
    expect((await Promise.all([lease(resource, 'x'), lease(resource, 'y')])).toSorted()).toEqual([false, true])
  })

  it('postponed, it is free and due at its time, with the error on it', async () => {
    await raise('a')
    const resource = await stored()
    await lease(resource, 'x')
    await postponeResource(world.ledger, resource, 'x', { at: 99, error: 'github_unreachable: …' })
    expect(await stored()).toMatchObject({ dueAt: 99, errors: 1, lastError: 'github_unreachable: …', leaseUntil: 0 })
    expect(await lease(await stored(), 'y')).toBe(true)
  })
})

describe('raiseWhileEnding', () => {
  const run = { runId: 'a'.repeat(64), attempt: 1 }
  const raiseEnded = () =>
    raiseWhileEnding(world.ledger, run, { ...name, runId: run.runId, document: 'ended', now: world.now })

  it('raises what an ending run leaves behind', async () => {
    await world.put({ ...keyOf.run(run.runId), state: 'ending', attempt: 1 })
    await raiseEnded()
    expect(await stored()).toMatchObject({ generation: 1, document: 'ended' })
  })

  it.each([
    ['ended', 1],
    ['running', 2],
    ['ending', 2],
  ])('IL11: raises nothing over what follows: the run is %s at attempt %d', async (state, attempt) => {
    await world.put({ ...keyOf.run(run.runId), state, attempt })
    await raise('of the next attempt')
    const before = await world.items()
    await raiseEnded()
    expect(await world.items()).toEqual(before)
  })
})
