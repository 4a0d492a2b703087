/** The admit room over the real ledger. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readFleet } from '../../../shared/ledger/fleet.ts'
import { completeReview, leaseReview } from '../../../shared/ledger/review.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { CONTRACT, REVIEW_LOSSES_MAX } from '../../../shared/limits.ts'
import { type ReviewName, reviewIdOf } from '../../../shared/review.ts'
import { heldParts, stored } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { requestOf, wantedReview } from '../../shared/samples.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
  world.now = Date.now()
  Object.assign(process.env, { TABLE_NAME: world.ledger.table, POWERTOOLS_LOG_LEVEL: 'SILENT' })
  const options = { deliveryId: 'd1', writer: 'w', now: world.now, signal: AbortSignal.timeout(8_000) }
  const { run } = await acceptRun(world.ledger, requestOf(), options)
  await updateRun(world.ledger, run, { state: 'running' }, { now: world.now })
})
afterEach(() => world.close())

const wanted = wantedReview(0)

async function admit(token: string, changes: Partial<ReviewName> = {}): Promise<void> {
  vi.resetModules()
  const { handler } = await import('../../../functions/admit/handler.ts')
  await handler({
    contract: CONTRACT,
    runId: wanted.runId,
    attempt: 1,
    review: reviewIdOf({ ...wanted, ...changes }),
    token,
  })
}

/** A worker of the granted review, whose lease ends at `until`, ms UTC. */
async function leasedUntil(owner: string, epoch: number, until: number): Promise<void> {
  const now = until - world.ledger.timings.reviewLeaseMs
  expect((await leaseReview(world.ledger, wanted, { epoch, owner, now })).kind).toBe('leased')
}

const answerTo = (token: string) => world.answers.find((answer) => answer.token === token)?.output

describe('the admit room', () => {
  it('a review gets its place at once where one is free', async () => {
    await admit('first')
    expect(answerTo('first')).toEqual({ outcome: 'granted', epoch: 1 })
  })

  it('L1: a review waits in the pool of its model, one that asks none in that of analyzers', async () => {
    await world.limit({ pools: { 'model/a': { configured: 1 } } })
    const run = await readRun(world.ledger, wanted.runId)
    if (!run) throw new Error('Expected the run to be stored, found none')
    await world.put({
      ...(await world.item(keyOf.run(run.runId))),
      ...keyOf.run(run.runId),
      pools: { correctness: 'model/a' },
    })
    for (const part of [0, 1]) await admit(`model-${part}`, { lens: 'correctness', part })
    await admit('analyzer', { lens: 'secrets' })
    expect(answerTo('model-0')).toMatchObject({ outcome: 'granted' })
    expect(answerTo('model-1')).toBeUndefined()
    expect(answerTo('analyzer')).toMatchObject({ outcome: 'granted' })
    const { slots } = await readFleet(world.ledger)
    expect(
      Object.values(slots)
        .map(({ pool }) => pool)
        .sort(),
    ).toEqual(['lambda', 'model/a'])
    const keys = (await world.items()).map(({ pk, sk }) => `${pk} ${sk}`)
    expect(keys).toContainEqual('FLEET#main WAITING#7#model/a')
    expect(keys).toContainEqual(expect.stringMatching(/^QUEUE#7#model\/a .*correctness\/1#1$/))
  })

  it('while a worker holds a live lease nothing is taken from it; its completion tells who waits', async () => {
    await admit('first')
    await leasedUntil('works', 1, Date.now() + 60_000)
    await admit('second')
    expect(answerTo('second')).toBeUndefined()
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    const done = await completeReview(world.ledger, wanted, { epoch: 1, owner: 'works' }, outcome)
    expect(done).toEqual({ kind: 'completed', token: 'second' })
    await admit('third')
    expect(answerTo('third')).toMatchObject({ outcome: 'completed' })
  })

  it('AW37, AW41: a lease that is over is taken back by who comes, without waiting for the sweeper', async () => {
    await admit('first')
    await leasedUntil('died', 1, Date.now() - 1)
    await admit('second')
    expect(answerTo('second')).toEqual({ outcome: 'granted', epoch: 2 })
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2, losses: 1 })
    expect(await heldParts(world)).toEqual([0])
  })

  it('a review whose workers were lost too often has failed, and who comes is told', async () => {
    for (let epoch = 1; epoch <= REVIEW_LOSSES_MAX; epoch += 1) {
      await admit(`token-${epoch}`)
      await leasedUntil(`died-${epoch}`, epoch, Date.now() - 1)
    }
    await admit('last')
    expect(answerTo('last')).toMatchObject({ outcome: 'failed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'lease_lost_too_often' } })
    expect(await heldParts(world)).toEqual([])
  })
})
