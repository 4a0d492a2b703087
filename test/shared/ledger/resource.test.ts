import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  leaseResources,
  type ResourceOutcome,
  type Resources,
  raiseResources,
  raiseWhileEnding,
  readResources,
  recordResources,
  renewResources,
  resourceIn,
  type ShownResource,
} from '../../../shared/ledger/resource.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { startWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const pullRequest = { repositoryId: 7, number: 42 }
const key = keyOf.resources(pullRequest.repositoryId, pullRequest.number)
const checkRun = { kind: 'check_run', key: 'head' }
const label = { kind: 'label', key: 'main' }

const raise = (document: string, names = [checkRun]) => {
  const wanted = names.map((name) => ({ ...name, document }))
  return raiseResources(world.ledger, { ...pullRequest, runId: 'run', wanted, now: world.now })
}
const lease = (resources: Resources, owner: string) => leaseResources(world.ledger, resources, owner, world.now)
const record = (resources: Resources, owner: string, outcomes: readonly ResourceOutcome[]) =>
  recordResources(world.ledger, resources, owner, { outcomes, now: world.now })
const shown = (generation: number, name = checkRun, recheckAt?: number): ResourceOutcome => ({
  ...name,
  kept: 'shown',
  generation,
  githubId: 5,
  recheckAt,
})
const postponed = (generation: number, at: number, name = checkRun): ResourceOutcome => ({
  ...name,
  kept: 'postponed',
  generation,
  at,
  error: 'github_unreachable: …',
  counts: true,
  recheckAt: undefined,
})

async function stored(): Promise<Resources> {
  const resources = await readResources(world.ledger, pullRequest)
  if (!resources) throw new Error('Expected the resources to be stored, found none')
  return resources
}

async function resource(name = checkRun): Promise<ShownResource> {
  const found = resourceIn(await stored(), name)
  if (!found) throw new Error('Expected the resource to be stored, found none')
  return found
}

describe('the resources of a pull request', () => {
  it('every raise is a generation of its own, also among concurrent raises', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((document) => raise(document)))
    expect(await stored()).toMatchObject({ ...pullRequest, version: 4, leaseUntil: 0 })
    expect(await resource()).toMatchObject({ generation: 4, shownGeneration: 0, errors: 0, runId: 'run' })
  })

  it('concurrent raises of different resources keep a generation each', async () => {
    await raise('a', [checkRun, label])
    await raise('b', [label])
    expect(await resource()).toMatchObject({ document: 'a', generation: 1 })
    expect(await resource(label)).toMatchObject({ document: 'b', generation: 2 })
  })

  it('shown at their newest generation, nothing more is due', async () => {
    await raise('a', [checkRun, label])
    const resources = await stored()
    expect(await lease(resources, 'x')).toBe(true)
    expect(await record(resources, 'x', [shown(1), shown(1, label)])).toBe('recorded')
    expect(await resource()).toMatchObject({ shownGeneration: 1, githubId: 5 })
    expect(await stored()).toMatchObject({ leaseUntil: 0 })
    for (const member of ['dueAt', 'duePk', 'owner']) expect(await world.item(key)).not.toHaveProperty(member)
  })

  it('IL5: a resource raised during a post is due at once', async () => {
    await raise('a')
    const resources = await stored()
    await lease(resources, 'x')
    await raise('b')
    expect(await record(resources, 'x', [shown(1)])).toBe('raised')
    expect(await resource()).toMatchObject({ generation: 2, shownGeneration: 1, document: 'b' })
    expect(await stored()).toMatchObject({ dueAt: world.now })
  })

  it('IL5: a replaced poster records nothing', async () => {
    await raise('a')
    const first = await stored()
    await lease(first, 'x')
    world.now = (await stored()).leaseUntil + 1
    await raise('b')
    const second = await stored()
    expect(second.owner).toBe('x')
    expect(await lease(second, 'y')).toBe(true)
    const at = world.now + 60_000
    await record(second, 'y', [shown(2, checkRun, at)])
    const before = await stored()
    expect(await record(first, 'x', [shown(1)])).toBe('lost')
    expect(await renewResources(world.ledger, first, 'x', world.now)).toBe(false)
    expect(await stored()).toEqual(before)
    expect(before.dueAt).toBe(at)
    expect(await resource()).toMatchObject({ generation: 2, shownGeneration: 2, recheckAt: at })
  })

  it('exactly one of two posters gets the lease on resources, until its end', async () => {
    await raise('a')
    const resources = await stored()
    expect((await Promise.all([lease(resources, 'x'), lease(resources, 'y')])).toSorted()).toEqual([false, true])
    expect(await lease(await stored(), 'z')).toBe(false)
    world.now += world.ledger.timings.postLeaseMs
    expect(await lease(await stored(), 'z')).toBe(true)
  })

  it('a postponed resource is free and due at its time, with an error that a newer generation drops', async () => {
    await raise('a')
    const resources = await stored()
    await lease(resources, 'x')
    await record(resources, 'x', [postponed(1, 99)])
    expect(await stored()).toMatchObject({ dueAt: 99, leaseUntil: 0 })
    expect(await resource()).toMatchObject({ errors: 1, lastError: 'github_unreachable: …', tryAt: 99 })
    await raise('b')
    expect(await resource()).toMatchObject({ errors: 0 })
    expect(await resource()).not.toHaveProperty('tryAt')
  })

  it('postponed resources are due at the earliest of their times', async () => {
    await raise('a', [checkRun, label])
    const resources = await stored()
    await lease(resources, 'x')
    await record(resources, 'x', [postponed(1, 500), postponed(1, 300, label)])
    expect(await stored()).toMatchObject({ dueAt: 300 })
    await lease(await stored(), 'y')
    await record(await stored(), 'y', [shown(1, label)])
    expect(await stored()).toMatchObject({ dueAt: 500 })
  })

  it('the settled check run of a passed head is forgotten, an owed check run is kept', async () => {
    await raise('a', [{ kind: 'check_run', key: 'h1' }])
    await raise('a', [{ kind: 'check_run', key: 'h2' }])
    await raise('a', [{ kind: 'check_run', key: 'h3' }, label])
    const resources = await stored()
    await lease(resources, 'x')
    const settled = ['h2', 'h3'].map((head, index) => shown(index + 2, { kind: 'check_run', key: head }))
    await record(resources, 'x', [...settled, shown(3, label)])
    expect((await stored()).all.map((one) => one.key).toSorted()).toEqual(['h1', 'h3', 'main'])
  })

  it('AW32: a record whose answer was lost is found to be done, and nothing is overwritten', async () => {
    await raise('a')
    const resources = await stored()
    await lease(resources, 'x')
    world.wire.loseAnswer(({ operation }) => operation === 'UpdateItem')
    expect(await record(resources, 'x', [shown(1)])).toBe('lost')
    expect(await resource()).toMatchObject({ shownGeneration: 1 })
  })
})

describe('raiseWhileEnding', () => {
  const run = { runId: 'a'.repeat(64), attempt: 1, outcome: 'closed' } as const
  const raiseEnded = (threadVersion?: number) =>
    raiseWhileEnding(world.ledger, run, threadVersion, {
      ...pullRequest,
      runId: run.runId,
      wanted: [{ ...checkRun, document: 'ended' }],
      now: world.now,
    })
  const ending = () => world.put({ ...keyOf.run(run.runId), ...run, state: 'ending' })

  it('an ending run raises its final content', async () => {
    await ending()
    expect(await raiseEnded()).toBe('settled')
    expect(await resource()).toMatchObject({ generation: 1, document: 'ended' })
  })

  it('D3: the final content of an ending run is decided again after another run’s claim', async () => {
    await ending()
    await world.put({ ...keyOf.thread(7, 42), version: 2 })
    expect(await raiseEnded()).toBe('again')
    expect(await raiseEnded(1)).toBe('again')
    expect(await world.item(key)).toBeUndefined()
    expect(await raiseEnded(2)).toBe('settled')
  })

  it.each([
    ['ended', 1, 'closed'],
    ['running', 2, undefined],
    ['ending', 2, 'closed'],
    ['ending', 1, 'cancelled'],
  ])(
    'IL11: an ended attempt raises nothing over its successor: the run is %s at attempt %d, %s',
    async (state, attempt, outcome) => {
      await world.put({ ...keyOf.run(run.runId), state, attempt, outcome })
      await raise('of the next attempt')
      const before = await world.items()
      expect(await raiseEnded()).toBe('settled')
      expect(await world.items()).toEqual(before)
    },
  )
})
