/** The review room over the real ledger: its writes, its stops, and the fate of an unreported result. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { takeUp } from '../../../functions/sweep/take-up.ts'
import { openLog } from '../../../shared/aws/log.ts'
import { StaleFence } from '../../../shared/base/errors.ts'
import { CONTRACT, WORK_REMAINING_MIN_MS, WORK_RESERVE_MS } from '../../../shared/base/limits.ts'
import { grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import type { Lens, LensInput, LensOutput } from '../../../shared/findings/lens.ts'
import { dueKeys, readDue } from '../../../shared/ledger/due.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { completeReview, leaseReview, takeBack } from '../../../shared/ledger/review.ts'
import { readRun } from '../../../shared/ledger/run.ts'
import { type Review, reviewIdOf } from '../../../shared/runs/review.ts'
import { about, admitted, asked, FLEET, heldParts, stored } from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository } from '../../shared/samples.ts'
import { attemptRuns, type Handler, work } from './room.ts'

const NOTHING: LensOutput = { findings: [], coverage: [] }
const SCOPE = `repository/${repository.id}` as const

/** Counts the readings of a lens, and decides about each. */
let readings = 0
let whileReading: (input: LensInput) => Promise<unknown>
const lens: Lens = async (input) => {
  readings += 1
  await whileReading(input)
  return NOTHING
}
vi.mock('../../../functions/review/lenses/index.ts', () => ({ lensOf: () => Promise.resolve(lens) }))

let world: World
beforeEach(async () => {
  world = await startWorld()
  world.now = Date.now()
  readings = 0
  whileReading = () => Promise.resolve()
  await attemptRuns(world, 1)
})
afterEach(async () => {
  delete process.env.LEASE_SECONDS
  await world.close()
})

/** The worker is lost: taken back after the end of its lease, and admitted again. */
async function again(): Promise<Review> {
  const review = await stored(world, 0)
  await takeBack(world.ledger, review, (review.until ?? 0) + 1)
  await grantSlots(world.coordinator, [slotOf(review)])
  return admitted(world, 0, { token: 'again-0' })
}

/** Every item due in a while, taken up as by the sweeper. */
async function sweepLater(): Promise<void> {
  world.now += 10 * world.ledger.timings.reviewLeaseMs
  for (const key of await dueKeys(world.ledger, world.now)) {
    const item = await readDue(world.ledger, key, world.now)
    if (item && item.kind !== 'run')
      await takeUp({ ...world.ending, inbox: world.ending.outbox, log: openLog('sweep') }, item)
  }
}

describe('a review', () => {
  it('is read, stored, completed, and its slot handed on', async () => {
    const review = await admitted(world, 0)
    world.wire.passed.length = 0
    expect(await work(world, review)).toEqual({ outcome: 'completed', findings: 0, blocking: 0 })
    const writes = world.wire.passed.filter(({ operation }) => /^(Put|Update|Delete)Item$/.test(operation))
    expect(writes).toHaveLength(3) // the lease, the completion, the fleet
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', owner: 'worker-1', findings: 0 })
    expect(await heldParts(world)).toEqual([])
  })

  it('AW28: with too little time left is neither read nor written', async () => {
    const review = await admitted(world, 0)
    await expect(work(world, review, [WORK_REMAINING_MIN_MS - 1])).rejects.toMatchObject({ code: 'deadline_too_near' })
    expect(await stored(world, 0)).toEqual(review)
  })

  it('RC1: of another run is refused, and neither run’s review is touched', async () => {
    const review = await admitted(world, 0)
    const before = await world.items()
    const { handler } = (await import('../../../functions/review/handler.ts')) as { handler: Handler }
    const input = { contract: CONTRACT, runId: 'f'.repeat(64), attempt: 1, review: reviewIdOf(review), epoch: 1 }
    const invocation = { awsRequestId: 'w', getRemainingTimeInMillis: () => 900_000 }
    await expect(handler(input, invocation)).rejects.toMatchObject({ code: 'unknown_review' })
    expect(await world.items()).toEqual(before)
  })

  it('whose lens hangs ends before the function does, with a reason, and its slot is free', async () => {
    whileReading = () => new Promise(() => undefined)
    const review = await admitted(world, 0)
    expect(await work(world, review, [WORK_REMAINING_MIN_MS, WORK_RESERVE_MS + 1])).toMatchObject({ outcome: 'failed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'deadline_too_near' } })
    expect(await heldParts(world)).toEqual([])
  })

  it('RC6: whose slot can’t be freed for throttling stands; the sweeper frees the slot', async () => {
    const review = await admitted(world, 0)
    const stop = world.wire.refuse(about('UpdateItem', FLEET), 'ProvisionedThroughputExceededException')
    expect(await work(world, review)).toMatchObject({ outcome: 'completed' })
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'completed' })
    expect(await heldParts(world)).toEqual([0])
    await sweepLater()
    expect(await heldParts(world)).toEqual([])
  })
})

describe('a lost lease', () => {
  const lose = async () => takeBack(world.ledger, await stored(world, 0), Date.now() + 3_600_000)

  it('LE2, RC5, IL3: refuses the late worker with stale_fence, and the review is done and paid for once', async () => {
    whileReading = lose
    await expect(work(world, await admitted(world, 0))).rejects.toMatchObject({
      name: 'stale_fence',
      message: new StaleFence().message,
    })
    expect(await stored(world, 0)).toMatchObject({ state: 'planned', epoch: 2 })
    expect(await stored(world, 0)).not.toHaveProperty('result')
    await grantSlots(world.coordinator, [slotOf(await stored(world, 0))])
    expect(await work(world, await admitted(world, 0, { token: 'again-0' }))).toMatchObject({ outcome: 'completed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 2, owner: 'worker-2' })
    expect(readings).toBe(1)
  })

  it('AW38: aborts the lens by its signal, and the worker writes nothing more', async () => {
    process.env.LEASE_SECONDS = '3'
    whileReading = async ({ signal }) => {
      await lose()
      world.wire.passed.length = 0
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    await expect(work(world, await admitted(world, 0))).rejects.toMatchObject({ name: 'stale_fence' })
    const writes = world.wire.passed.filter(({ operation }) => /^(Put|Update|Delete)Item$/.test(operation))
    expect(writes).toHaveLength(1) // the refused heartbeat
    whileReading = () => Promise.resolve()
    await grantSlots(world.coordinator, [slotOf(await stored(world, 0))])
    await work(world, await admitted(world, 0, { token: 'again-0' }))
    expect(readings).toBe(2) // the first reading stored nothing, and left nothing to be found
  })
})

describe('a stored result', () => {
  it('AW26: that could not be reported is not made again', async () => {
    const review = await admitted(world, 0)
    const stop = world.wire.refuse(
      ({ operation, body }) => operation === 'UpdateItem' && JSON.stringify(body).includes('"completed"'),
      'ValidationException',
    )
    await expect(work(world, review)).rejects.toThrow()
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'leased', epoch: 1 })
    expect(await work(world, await again())).toMatchObject({ outcome: 'completed' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 2 })
    expect(readings).toBe(1)
  })

  it('RC4: has no effect under a halt, and is found again after the halt', async () => {
    whileReading = () => setHalt(world.ledger, { scope: SCOPE, by: 'm', why: 'w', since: 1 })
    expect(await work(world, await admitted(world, 0))).toMatchObject({ outcome: 'held' })
    expect(await stored(world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
    expect(await stored(world, 0)).not.toHaveProperty('result')
    expect(await heldParts(world)).toEqual([])
    await liftHalt(world.ledger, SCOPE)
    await attemptRuns(world, 2)
    expect(await work(world, await admitted(world, 0, { attempt: 2, token: 'again-0' }))).toMatchObject({
      outcome: 'completed',
    })
    expect(readings).toBe(1)
  })

  it('RC4: recorded before a halt stands under the halt', async () => {
    await work(world, await admitted(world, 0))
    await setHalt(world.ledger, { scope: SCOPE, by: 'm', why: 'w', since: 1 })
    await expect(work(world, { ...(await stored(world, 0)) })).rejects.toMatchObject({ name: 'stale_fence' })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed', epoch: 1 })
  })
})

describe('a second Admit during the work of a worker', () => {
  it('is told at the completion, and its token is gone', async () => {
    whileReading = () => asked(world, 0, { token: 'again-0' })
    await work(world, await admitted(world, 0))
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'completed', epoch: 1 } })
    const left = await stored(world, 0)
    expect(left).not.toHaveProperty('token')
    expect(await dueKeys(world.ledger, Number.MAX_SAFE_INTEGER)).not.toContainEqual(
      expect.objectContaining({ sk: expect.stringContaining('REVIEW#') }),
    )
  })

  it('AW44: is told by the sweeper if the worker dies between completion and answer', async () => {
    const review = await admitted(world, 0)
    const lease = { epoch: 1, owner: 'dies' }
    await leaseReview(world.ledger, review, { ...lease, now: world.now })
    await asked(world, 0, { token: 'again-0' })
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    expect(await completeReview(world.ledger, review, lease, outcome)).toEqual({ kind: 'completed', token: 'again-0' })
    await sweepLater()
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'completed', epoch: 1 } })
    expect(await stored(world, 0)).not.toHaveProperty('token')
    const told = world.answers.length
    await sweepLater()
    expect(world.answers).toHaveLength(told)
    expect((await readRun(world.ledger, review.runId))?.state).toBe('running')
  })
})
