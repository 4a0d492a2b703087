import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leaseResources, readResources } from '../../../shared/ledger/resource.ts'
import { acceptRun, beginEnding, readRun, writePlan } from '../../../shared/ledger/run.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { repository, requestOf } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
let run: Run
beforeEach(async () => {
  world = await startWorld()
  const signal = AbortSignal.timeout(8_000)
  run = (await acceptRun(world.ledger, requestOf(), { deliveryId: 'd', writer: 'w', now: world.now, signal })).run
})
afterEach(() => world.close())

const pullRequest = { repositoryId: repository.id, number: 42 }
const wanted = [{ kind: 'label', key: 'main', document: 'checking' }]
const write = (raised = wanted) =>
  writePlan(world.ledger, run, { digest: 'p', planKey: 'k', wanted: raised, now: world.now })

describe('writePlan', () => {
  it('the plan is stored, and its check run is raised, in one transaction', async () => {
    const planned = await write()
    expect(planned).toMatchObject({ plan: 'p', planKey: 'k', version: run.version + 1 })
    expect(await readRun(world.ledger, run.runId)).toEqual(planned)
    expect((await readResources(world.ledger, pullRequest))?.all).toMatchObject([{ kind: 'label', generation: 1 }])
  })

  it('a restated verdict raises nothing', async () => {
    expect(await write([])).toBeDefined()
    expect(await readResources(world.ledger, pullRequest)).toBeUndefined()
  })

  it('D3, I3: a run that ended during its plan leaves no check run in progress', async () => {
    const reason = { code: 'pull_request_closed', sentence: 'Closed.' } as const
    await beginEnding(world.ledger, run, { outcome: 'closed', reason, now: world.now })
    const before = await world.items()
    expect(await write()).toBeUndefined()
    expect(await world.items()).toEqual(before)
  })

  it('AW32: a lost answer is no refusal', async () => {
    world.wire.loseAnswer(({ operation }) => operation === 'TransactWriteItems')
    expect(await write()).toMatchObject({ plan: 'p' })
  })

  it('is not refused because a poster holds the resources', async () => {
    await write([{ kind: 'summary', key: 'main', document: 'd' }])
    const resources = await readResources(world.ledger, pullRequest)
    expect(resources && (await leaseResources(world.ledger, resources, 'post', world.now))).toBe(true)
    run = (await readRun(world.ledger, run.runId)) ?? run
    expect(await write()).toBeDefined()
  })
})
