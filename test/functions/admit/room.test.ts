/** The admit room over the real ledger. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CONTRACT, REVIEW_LOSSES_MAX } from '../../../shared/base/limits.ts'
import type { LostWorker } from '../../../shared/fleet/lease.ts'
import { readFleet } from '../../../shared/ledger/fleet.ts'
import { completeReview, endReview, leaseReview } from '../../../shared/ledger/review.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import { type ReviewName, reviewIdOf } from '../../../shared/runs/review.ts'
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

async function admit(token: string, changes: Partial<ReviewName> = {}, lost?: LostWorker): Promise<void> {
  vi.resetModules()
  const { handler } = await import('../../../functions/admit/handler.ts')
  await handler({
    contract: CONTRACT,
    runId: wanted.runId,
    attempt: 1,
    review: reviewIdOf({ ...wanted, ...changes }),
    token,
    ...(lost ? { lost } : {}),
  })
}

/** A worker of the granted review, with a lease until `until`, ms UTC. */
async function leasedUntil(owner: string, epoch: number, until: number): Promise<void> {
  const now = until - world.ledger.timings.reviewLeaseMs
  expect((await leaseReview(world.ledger, wanted, { epoch, owner, now })).kind).toBe('leased')
}

/** Lambda's answer as Step Functions passes it on. */
const killed = (owner: string) =>
  JSON.stringify({
    errorType: 'Runtime.ExitError',
    errorMessage: `RequestId: ${owner} Error: Runtime exited with error: signal: killed`,
  })

const answerTo = (token: string) => world.answers.find((answer) => answer.token === token)?.output

describe('the admit room', () => {
  it('a review gets a free slot at once', async () => {
    await admit('first')
    expect(answerTo('first')).toEqual({ outcome: 'granted', epoch: 1 })
  })

  it('L1: a review waits in the pool of its model, a review without a model in the pool of analyzers', async () => {
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

  it('a live lease stays with its worker, whose completion answers the waiting token', async () => {
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

  it('AW37, AW41: Admit takes an ended lease back by itself, without the sweeper', async () => {
    await admit('first')
    await leasedUntil('died', 1, Date.now() - 1)
    await admit('second')
    expect(answerTo('second')).toEqual({ outcome: 'granted', epoch: 2 })
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2, losses: 1 })
    expect(await heldParts(world)).toEqual([0])
  })

  it('a review with too many losses has failed, and Admit answers with that outcome', async () => {
    for (let epoch = 1; epoch <= REVIEW_LOSSES_MAX; epoch += 1) {
      await admit(`token-${epoch}`)
      await leasedUntil(`died-${epoch}`, epoch, Date.now() - 1)
    }
    await admit('last')
    expect(answerTo('last')).toMatchObject({ outcome: 'failed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'lease_lost_too_often' } })
    expect(await heldParts(world)).toEqual([])
  })

  describe('Admit with a report of a crashed worker', () => {
    const inAnHour = () => Date.now() + 3_600_000
    const complete = (owner: string, epoch: number) =>
      completeReview(
        world.ledger,
        wanted,
        { epoch, owner },
        { state: 'completed', result: 'r', findings: 0, blocking: 0 },
      )

    it('IL3: takes the lease back at once, grants the slot again, and refuses the dead worker’s late completion', async () => {
      await admit('first')
      await leasedUntil('died', 1, inAnHour())
      await admit('second', {}, { epoch: 1, cause: killed('died') })
      expect(answerTo('second')).toEqual({ outcome: 'granted', epoch: 2 })
      expect(await complete('died', 1)).toEqual({ kind: 'stale' })
      expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2, losses: 1 })
      expect(await heldParts(world)).toEqual([0])
    })

    it('grants the dead worker’s slot to an earlier ticket', async () => {
      await world.limit({ configured: 1 })
      await admit('first')
      await leasedUntil('died', 1, inAnHour())
      await admit('other', { part: 1 })
      expect(answerTo('other')).toBeUndefined()
      await admit('second', {}, { epoch: 1, cause: killed('died') })
      const told = [answerTo('other'), answerTo('second')].filter((answer) => answer !== undefined)
      expect(told).toHaveLength(1)
      expect(await heldParts(world)).toHaveLength(1)
    })

    it.each([
      ['an unnamed worker', 1, 'The cause could not be determined.'],
      ['another worker', 1, killed('another')],
      ['a worker of an earlier epoch', 0, killed('works')],
    ])('leaves the lease alone after a report of %s', async (_, epoch, cause) => {
      await admit('first')
      await leasedUntil('works', 1, inAnHour())
      await admit('second', {}, { epoch, cause })
      expect(answerTo('second')).toBeUndefined()
      expect(await stored(world, 0)).toMatchObject({ state: 'leased', epoch: 1, owner: 'works', token: 'second' })
      expect(await complete('works', 1)).toEqual({ kind: 'completed', token: 'second' })
    })

    it('counts a loss for a worker that died before its lease, and fails the review after five of these', async () => {
      await admit('first')
      for (let epoch = 1; epoch < REVIEW_LOSSES_MAX; epoch += 1) {
        await admit(`token-${epoch}`, {}, { epoch, cause: 'The cause could not be determined.' })
        expect(answerTo(`token-${epoch}`)).toEqual({ outcome: 'granted', epoch: epoch + 1 })
        expect(await stored(world, 0)).toMatchObject({ losses: epoch })
      }
      await admit('last', {}, { epoch: REVIEW_LOSSES_MAX, cause: '' })
      expect(answerTo('last')).toMatchObject({ outcome: 'failed' })
      expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'lease_lost_too_often' } })
      expect(await heldParts(world)).toEqual([])
    })

    it('IL4: called again with the same report, leaves the new grant alone', async () => {
      await admit('first')
      await leasedUntil('died', 1, inAnHour())
      for (const token of ['second', 'third']) await admit(token, {}, { epoch: 1, cause: killed('died') })
      expect(answerTo('third')).toEqual({ outcome: 'granted', epoch: 2 })
      expect(await stored(world, 0)).toMatchObject({ epoch: 2, losses: 1 })
    })

    it('leaves the lease of a second call of the same worker alone, and no task waits for ever', async () => {
      await admit('first')
      world.wire.beforeAnswer(
        ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('second'),
        () => leasedUntil('twin', 1, inAnHour()),
      )
      await admit('second', {}, { epoch: 1, cause: killed('died') })
      expect(await stored(world, 0)).toMatchObject({ state: 'leased', epoch: 1, owner: 'twin' })
      // As if no worker had died: the worker then meets the lease, and Admit is called again.
      expect(answerTo('second')).toEqual({ outcome: 'granted', epoch: 1 })
    })

    it('leaves a review alone that was ended meanwhile', async () => {
      await admit('first')
      await leasedUntil('died', 1, inAnHour())
      const review = await stored(world, 0)
      await endReview(world.ledger, review)
      await admit('second', {}, { epoch: 1, cause: killed('died') })
      expect(answerTo('second')).toMatchObject({ outcome: 'ended' })
      expect(await stored(world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
    })

    it('stores none of Lambda’s words', async () => {
      await admit('first')
      await leasedUntil('died', 1, inAnHour())
      await admit('second', {}, { epoch: 1, cause: `${killed('died')} and more` })
      expect(JSON.stringify(await world.items())).not.toContain('and more')
    })
  })
})
