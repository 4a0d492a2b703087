import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nextDueAt } from '../../../functions/sweep/core/sweep.ts'
import { newTick } from '../../../functions/sweep/core/tick.ts'
import type { SweepDeps } from '../../../functions/sweep/deps.ts'
import { takeUp } from '../../../functions/sweep/take-up.ts'
import { openLog } from '../../../shared/aws/log.ts'
import { REVIEW_LOSSES_MAX } from '../../../shared/base/limits.ts'
import { closePool, grantSlots, slotOf } from '../../../shared/coordinator/grant-slots.ts'
import { withGrants } from '../../../shared/fleet/schedule.ts'
import { dueKeys, postponeDue, readDue } from '../../../shared/ledger/due.ts'
import { queueTicket, readFleet, writeFleet } from '../../../shared/ledger/fleet.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { readResources, resourceIn } from '../../../shared/ledger/resource.ts'
import { completeReview, endReview, leaseReview, ticketOf } from '../../../shared/ledger/review.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { RunState } from '../../../shared/runs/run.ts'
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
} from '../../shared/coordinator/fleet-of-tests.ts'
import { startWorld, type World } from '../../shared/ledger/world.ts'
import { repository, requestOf, threadOf } from '../../shared/samples.ts'

let world: World
let deps: SweepDeps
beforeEach(async () => {
  world = await startWorld()
  deps = { ...world.ending, inbox: world.ending.outbox, log: openLog('sweep') }
  await runIs('running')
})
afterEach(() => world.close())

/** Sets the state of the run of all reviews here. */
async function runIs(state: RunState): Promise<void> {
  const { ledger, now } = world
  const options = { deliveryId: 'd1', writer: 'w', now, signal: AbortSignal.timeout(8_000) }
  const { run } = await acceptRun(ledger, requestOf(), options)
  expect(await updateRun(ledger, run, { state }, { now })).toBeDefined()
}

/** One tick of the sweeper, `afterMs` from now: every due item, taken up as by the handler. */
async function sweep(afterMs: number): Promise<string[]> {
  world.now += afterMs
  const kinds: string[] = []
  const tick = newTick()
  for (const key of await dueKeys(world.ledger, world.now)) {
    const item = await readDue(world.ledger, key, world.now)
    if (!item) continue
    await postponeDue(world.ledger, key, item.dueAt, nextDueAt(item, world.now, world.ledger.timings.recheckMs))
    await takeUp(deps, item, tick)
    kinds.push(item.kind)
  }
  return kinds
}

const { recheckMs, grantMs, reviewLeaseMs } = { recheckMs: 60_000, grantMs: 120_000, reviewLeaseMs: 180_000 }

describe('the fleet', () => {
  it('IL6: after a worker’s death between completion and release, the void slot goes to a waiting review', async () => {
    await world.limit({ configured: 1 })
    await worked(world, await admitted(world, 0), { dies: true })
    await admitted(world, 1)
    expect(await heldParts(world)).toEqual([0])
    await sweep(recheckMs)
    expect(await heldParts(world)).toEqual([1])
    expect(toldParts(world)).toEqual([0, 1])
    expect(await stored(world, 0)).toMatchObject({ state: 'completed' })
  })

  it('RC6: after a throttled release the result stands, and the sweeper frees the slot', async () => {
    await world.limit({ configured: 1 })
    const review = await admitted(world, 0)
    await worked(world, review, { dies: true })
    const stop = world.wire.refuse(about('UpdateItem', FLEET), 'ProvisionedThroughputExceededException')
    await expect(grantSlots(world.coordinator, [slotOf(review)])).rejects.toThrow()
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'completed' })
    expect(await heldParts(world)).toEqual([0])
    await sweep(recheckMs)
    expect(await heldParts(world)).toEqual([])
  })

  it('IL6: a fleet written all the time is looked at nevertheless', async () => {
    await world.limit({ configured: 2 })
    await worked(world, await admitted(world, 0), { dies: true })
    for (let part = 1; part <= 4; part += 1) {
      world.now += recheckMs / 4
      await worked(world, await admitted(world, part))
    }
    await sweep(0)
    expect(await heldParts(world)).toEqual([])
  })

  it('IL7: in a full fleet the sweeper finishes a grant whose writer died before it told the review', async () => {
    await world.limit({ configured: 1 })
    const review = await asked(world, 0)
    await queueTicket(world.ledger, ticketOf(review), 'n')
    const before = await readFleet(world.ledger)
    const next = withGrants(before, [ticketOf(review)], world.now)
    await writeFleet(world.ledger, before, next, 'one who dies', world.now)
    expect(await sweep(recheckMs)).toContain('fleet')
    expect(await stored(world, 0)).toMatchObject({ state: 'granted' })
    expect(toldParts(world)).toEqual([0])
    expect((await waitingItems(world)).tickets).toEqual([])
  })
})

describe('a review whose model is throttled', () => {
  const POOL = 'model/a'
  const MINUTE_MS = 60_000
  const parkedRun = () => readRun(world.ledger, requestOf().runId)

  /** Part 0 was throttled and is gone; part 1 waits behind the pool, closed for `untilMs`. */
  async function waitsBehind(untilMs: number): Promise<void> {
    const review = await admitted(world, 0, { pool: POOL })
    await closePool(world.coordinator, slotOf(review), world.now + untilMs)
    await endReview(world.ledger, review)
    await admitted(world, 1, { pool: POOL })
    expect(await stored(world, 1)).toMatchObject({ state: 'waiting' })
  }

  it('L2: marks its run as parked once, although it never called the model', async () => {
    await waitsBehind(20 * MINUTE_MS)
    await sweep(5 * MINUTE_MS)
    const { parked, version } = (await parkedRun()) ?? {}
    expect(parked).toMatchObject({ pool: POOL })
    await sweep(5 * MINUTE_MS)
    expect(await parkedRun()).toMatchObject({ parked, version })
    const pullRequest = { repositoryId: repository.id, number: requestOf().number }
    const shown = resourceIn(await readResources(world.ledger, pullRequest), {
      kind: 'check_run',
      key: requestOf().head,
    })
    expect(shown).toMatchObject({ generation: 1 })
  })

  it('R3: is granted as the only probe once its time has come, by the sweeper if by no other process', async () => {
    await waitsBehind(MINUTE_MS)
    await admitted(world, 2, { pool: POOL })
    await sweep(recheckMs)
    expect(await heldParts(world)).toEqual([1])
    await sweep(recheckMs)
    expect(await heldParts(world)).toEqual([1])
  })

  it('L2: fails once its patience is over, its task is told, and neither ticket nor token stays', async () => {
    await waitsBehind(180 * MINUTE_MS)
    await sweep(59 * MINUTE_MS)
    expect(await stored(world, 1)).toMatchObject({ state: 'waiting' })
    await sweep(6 * MINUTE_MS)
    expect(await stored(world, 1)).toMatchObject({ state: 'failed', epoch: 2, reason: { code: 'model_throttled' } })
    expect(world.answers.at(-1)).toMatchObject({ token: 'token-1', output: { outcome: 'failed' } })
    expect((await waitingItems(world)).tickets).toEqual([])
    expect(await stored(world, 1)).not.toHaveProperty('token')
  })

  it('a closed pool without waiting reviews is opened, and the fleet is at rest', async () => {
    await waitsBehind(3 * MINUTE_MS)
    const review = await stored(world, 1)
    await endReview(world.ledger, review)
    for (let minute = 0; minute < 6; minute += 1) await sweep(recheckMs)
    expect(await readFleet(world.ledger)).toMatchObject({ closed: {}, slots: {} })
    expect(await world.item(keyOf.fleet())).not.toHaveProperty('dueAt')
  })
})

describe('a review', () => {
  it('IL3, AW37: after its worker’s death is taken back, waits for its Admit, and completes once', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'dies', now: world.now })
    await sweep(reviewLeaseMs)
    expect(await stored(world, 0)).toMatchObject({ state: 'leased', epoch: 1 }) // at its end the lease still holds
    await sweep(recheckMs)
    expect(await stored(world, 0)).toMatchObject({ state: 'planned', epoch: 2 })
    expect(await heldParts(world)).toEqual([])
    const outcome = { state: 'completed', result: 'late', findings: 0, blocking: 0 } as const
    const late = await completeReview(world.ledger, review, { epoch: 1, owner: 'dies' }, outcome)
    expect(late).toEqual({ kind: 'stale' })
    expect(await worked(world, await admitted(world, 0, { token: 'back-0' }))).toBe('completed')
  })

  it('with a grant that no worker took waits at the next epoch and is granted again, without its dead token', async () => {
    await admitted(world, 0)
    await sweep(grantMs + 1)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2 })
    expect(await stored(world, 0)).not.toHaveProperty('token')
    expect(await heldParts(world)).toEqual([0])
  })

  it('taken back with a token of a second Admit is queued at once, and the second Admit is told', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'dies', now: world.now })
    await asked(world, 0, { token: 'again-0' })
    await sweep(reviewLeaseMs + 1)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 2 })
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'granted', epoch: 2 } })
  })

  it('with too many losses fails, its task is told, and its slot is free', async () => {
    await admitted(world, 0)
    for (let loss = 1; loss <= REVIEW_LOSSES_MAX; loss += 1) {
      await asked(world, 0, { token: `try-${loss}` })
      await sweep(grantMs + 1)
    }
    expect(await stored(world, 0)).toMatchObject({ state: 'failed', reason: { code: 'lease_lost_too_often' } })
    expect(world.answers.at(-1)?.output).toMatchObject({ outcome: 'failed' })
    expect(await heldParts(world)).toEqual([])
  })

  it('without ticket and marker, lost with their writer, is queued and granted', async () => {
    await asked(world, 0)
    await sweep(grantMs)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 1 })
    expect(toldParts(world)).toEqual([0])
  })

  it('IL8: whose writer died between ticket and look at a resting fleet is granted', async () => {
    await queueTicket(world.ledger, ticketOf(await asked(world, 0)), 'n')
    await sweep(grantMs)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted' })
    expect(toldParts(world)).toEqual([0])
  })

  it('RC6: whose worker died between completion and answer: the sweeper tells the second Admit', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'dies', now: world.now })
    await asked(world, 0, { token: 'again-0' })
    const outcome = { state: 'completed', result: 'r', findings: 0, blocking: 0 } as const
    expect(await completeReview(world.ledger, review, { epoch: 1, owner: 'dies' }, outcome)).toMatchObject({
      token: 'again-0',
    })
    await sweep(reviewLeaseMs)
    expect(world.answers.at(-1)).toEqual({ token: 'again-0', output: { outcome: 'completed', epoch: 1 } })
    expect(await stored(world, 0)).not.toHaveProperty('token')
  })

  it('IL7: with a slot but without a ticket, whose grantor died before the answer, is told', async () => {
    await world.limit({ configured: 1 })
    const stop = world.wire.refuse(about('UpdateItem', 'RUN#'), 'ValidationException')
    await expect(admitted(world, 0)).rejects.toThrow()
    stop()
    expect(await stored(world, 0)).toMatchObject({ state: 'waiting' })
    expect(await heldParts(world)).toEqual([0])
    await sweep(grantMs)
    expect(await stored(world, 0)).toMatchObject({ state: 'granted', epoch: 1 })
    expect(toldParts(world)).toEqual([0])
    expect(await waitingItems(world)).toEqual({ markers: 0, tickets: [] })
  })

  it('AW44: of a run no longer running is ended, its task is told, and its slot is free', async () => {
    await admitted(world, 0)
    await asked(world, 0, { token: 'again-0' })
    const run = await readRun(world.ledger, requestOf().runId)
    if (run) await updateRun(world.ledger, run, { state: 'held' }, { now: world.now + 10 * grantMs })
    await sweep(grantMs + 1)
    expect(await stored(world, 0)).toMatchObject({ state: 'ended', epoch: 2 })
    expect(world.answers.at(-1)).toMatchObject({ token: 'again-0', output: { outcome: 'ended' } })
    expect((await readFleet(world.ledger)).slots).not.toHaveProperty(idOf(0))
  })

  it('waiting costs no write but that of its due time, and is looked at less often', async () => {
    await world.limit({ configured: 1 })
    for (const part of [0, 1, 2, 3]) await admitted(world, part)
    const before = await world.items()
    world.wire.passed.length = 0
    expect((await sweep(grantMs - 1)).filter((kind) => kind === 'review')).toEqual([])
    expect((await sweep(1)).filter((kind) => kind === 'review')).toHaveLength(4) // including the granted review
    const written = world.wire.passed.filter(({ operation, body }) => {
      return operation !== 'GetItem' && operation !== 'Query' && JSON.stringify(body).includes('QUEUE#')
    })
    expect(written).toEqual([])
    for (const part of [1, 2, 3]) {
      const isIt = ({ sk }: { sk?: unknown }) => new RegExp(`^REVIEW#.*#${part}$`).test(String(sk))
      const { dueAt, ...review } = before.find(isIt) ?? {}
      const now = (await world.items()).find(isIt)
      expect(now).toEqual({ ...review, dueAt: world.now + 5 * recheckMs })
      expect(dueAt).toBe(world.now)
    }
  })

  it('I1: waiting gets a slot left free by a dead process, and one hand-over serves all', async () => {
    await world.limit({ configured: 1 })
    for (const part of [0, 1, 2]) await admitted(world, part)
    const fleet = await world.item(keyOf.fleet())
    await world.limit({ configured: 3 }) // raised without a hand-over
    await world.put({ ...keyOf.fleet(), ...(await world.item(keyOf.fleet())), dueAt: fleet?.dueAt })
    await sweep(grantMs)
    expect(await heldParts(world)).toEqual([0, 1, 2])
  })

  it('PL4: waiting under a halt gets no slot: its run is held, its ticket goes and its task is told', async () => {
    await world.limit({ configured: 1 })
    for (const part of [0, 1]) await admitted(world, part)
    await setHalt(world.ledger, { scope: 'fleet', by: 'a person', why: 'a reason', since: 1 })
    await sweep(grantMs)
    expect(await readRun(world.ledger, requestOf().runId)).toMatchObject({
      state: 'held',
      reason: { code: 'halted' },
    })
    expect(await stored(world, 1)).toMatchObject({ state: 'ended' })
    expect(world.answers).toContainEqual({ token: 'token-1', output: expect.objectContaining({ outcome: 'held' }) })
    expect(await waitingItems(world)).toMatchObject({ tickets: [] })
  })

  it('with a live lease is left alone, however many sweeps look', async () => {
    const review = await admitted(world, 0)
    await leaseReview(world.ledger, review, { epoch: 1, owner: 'works', now: world.now })
    const before = await stored(world, 0)
    for (const _ of [1, 2, 3]) await sweep(reviewLeaseMs / 3)
    expect(await stored(world, 0)).toEqual(before)
  })
})

describe('a run', () => {
  it('LE4: accepted but never started is started; a repeated start makes one execution', async () => {
    await world.remove(keyOf.run(requestOf().runId))
    const options = { deliveryId: 'd1', writer: 'w', now: world.now, signal: AbortSignal.timeout(8_000) }
    await acceptRun(world.ledger, requestOf(), options)
    deps = { ...deps, executions: world.coordinator.executions }
    world.executionsAbsent = true
    await sweep(recheckMs)
    expect(world.asked.map(({ operation }) => operation)).toEqual(['DescribeExecution', 'StartExecution'])
  })

  it('PL4, IL12: held goes on as the next attempt once its halt is lifted, and not before', async () => {
    const run = await readRun(world.ledger, requestOf().runId)
    if (run) await updateRun(world.ledger, run, { state: 'held', plan: 'p' }, { now: world.now })
    const scope = `repository/${repository.id}` as const
    await setHalt(world.ledger, { scope, by: 'a person', why: 'a reason', since: 1 })
    await sweep(recheckMs)
    expect(await readRun(world.ledger, requestOf().runId)).toMatchObject({ state: 'held', attempt: 1 })
    await liftHalt(world.ledger, scope)
    await sweep(recheckMs)
    const resumed = await readRun(world.ledger, requestOf().runId)
    expect(resumed).toMatchObject({ state: 'accepted', attempt: 2 })
    expect(resumed).not.toHaveProperty('plan')
    // Whatever still waits on a token of the earlier attempt ends with its execution.
    const asked = world.asked.map(({ operation }) => operation).filter((operation) => operation !== 'DescribeExecution')
    expect(asked).toEqual(['StopExecution', 'StartExecution'])
  })

  it('PR6: of an edited description waits during the review of its head, in the same attempt, and goes on afterwards', async () => {
    const { ledger, now } = world
    const edited = {
      ...requestOf(),
      runId: 'e'.repeat(64),
      cause: 'text:1',
      kind: 'analyzers' as const,
      payloadDigest: 'p2',
    }
    const options = { deliveryId: 'd2', writer: 'w2', now, signal: AbortSignal.timeout(8_000) }
    const { run } = await acceptRun(ledger, edited, options)
    const reason = { code: 'attempt_waits', sentence: 'The run waits for the review of this head.' } as const
    await updateRun(ledger, run, { state: 'held', reason }, { now })
    const liveRun = { runId: requestOf().runId, attempt: 1, kind: 'full' as const, eventAt: 1 }
    await world.put({ ...keyOf.thread(repository.id, edited.number), ...threadOf({ head: edited.head, liveRun }) })
    await sweep(recheckMs)
    expect(await readRun(ledger, edited.runId)).toMatchObject({ state: 'held', attempt: 1 })
    const review = await readRun(ledger, requestOf().runId)
    if (review) await updateRun(ledger, review, { state: 'ended' }, { now: world.now })
    await sweep(2 * recheckMs)
    expect(await readRun(ledger, edited.runId)).toMatchObject({ state: 'accepted', attempt: 2 })
  })

  it('I5: running with an ended execution fails visibly, and its check run is completed', async () => {
    world.executionsAbsent = true
    await sweep(recheckMs)
    expect(await readRun(world.ledger, requestOf().runId)).toMatchObject({
      state: 'ended',
      outcome: 'failed',
      reason: { code: 'execution_failed' },
    })
    const resources = await readResources(world.ledger, { repositoryId: 7, number: 42 })
    expect(resourceIn(resources, { kind: 'check_run', key: requestOf().head })).toMatchObject({ generation: 1 })
  })

  it('IL10: concluded and shown ends at once if post died before its last look', async () => {
    const run = await readRun(world.ledger, requestOf().runId)
    if (run) await updateRun(world.ledger, run, { state: 'concluded' }, { now: world.now })
    await sweep(recheckMs)
    expect(await readRun(world.ledger, requestOf().runId)).toMatchObject({ state: 'ended', outcome: 'reviewed' })
  })

  it('held during the read of its execution, which ended for that reason, stays held', async () => {
    const seen = await readRun(world.ledger, requestOf().runId)
    if (!seen) throw new Error('There is no run.')
    await updateRun(world.ledger, seen, { state: 'held' }, { now: world.now })
    world.executionsAbsent = true
    await takeUp(deps, { kind: 'run', run: seen, dueAt: world.now })
    expect(await readRun(world.ledger, requestOf().runId)).toMatchObject({ state: 'held', attempt: 1 })
  })
})
