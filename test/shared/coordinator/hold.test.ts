import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AWAITED_BY_MAX } from '../../../shared/base/limits.ts'
import { finishEnding } from '../../../shared/coordinator/ending.ts'
import { finishIfShown } from '../../../shared/coordinator/finish.ts'
import { holdBehind, holdForHalt } from '../../../shared/coordinator/hold.ts'
import { reviveHead } from '../../../shared/coordinator/revive.ts'
import { liftHalt, setHalt } from '../../../shared/ledger/halt.ts'
import { leaseReview } from '../../../shared/ledger/review.ts'
import { acceptRun, beginEnding, endRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { resumeRun } from '../../../shared/ledger/run-again.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Reason, Run, RunState } from '../../../shared/runs/run.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { repository, requestOf, sha } from '../samples.ts'
import { about, admitted, asked, heldParts, stored, waitingItems, worked } from './fleet-of-tests.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const reason: Reason = { code: 'pull_request_closed', sentence: 'Closed.' }
const halt = () => setHalt(world.ledger, { scope: `repository/${repository.id}`, by: 'ops', why: 'incident', since: 1 })
const lift = () => liftHalt(world.ledger, `repository/${repository.id}`)

async function run(request = requestOf()): Promise<Run> {
  const found = await readRun(world.ledger, request.runId)
  if (!found) throw new Error('Expected the run to be stored, found none')
  return found
}

async function runIs(state: RunState, request = requestOf(), deliveryId = 'd1'): Promise<Run> {
  const { ledger, now } = world
  const options = { deliveryId, writer: deliveryId, now, signal: AbortSignal.timeout(8_000) }
  const accepted = await acceptRun(ledger, request, options)
  if (state !== 'accepted') await updateRun(ledger, accepted.run, { state }, { now })
  return run(request)
}

const dueAt = async (request = requestOf()) => (await world.item(keyOf.run(request.runId)))?.dueAt

describe('a run under a halt', () => {
  it('PL4: waits: leases, slots and tickets go, results stay, waiting tasks are told, and other runs get the slots', async () => {
    await world.limit({ configured: 2 })
    await runIs('running')
    await worked(world, await admitted(world, 0))
    await leaseReview(world.ledger, await admitted(world, 1), { epoch: 1, owner: 'w', now: world.now })
    await admitted(world, 2)
    await admitted(world, 3)
    await admitted(world, 9, { runId: 'e'.repeat(64), repository: { ...repository, id: 8 } })
    await halt()
    expect(await holdForHalt(world.coordinator, await run())).toBe(true)
    expect(await run()).toMatchObject({ state: 'held', reason: { code: 'halted' } })
    expect(await stored(world, 0)).toMatchObject({ state: 'completed' })
    for (const part of [1, 2, 3]) expect(await stored(world, part)).toMatchObject({ state: 'ended' })
    expect(await heldParts(world)).toEqual([9])
    expect((await waitingItems(world)).tickets).toEqual([])
    expect(world.answers.at(-2)).toMatchObject({ token: 'token-3', output: { outcome: 'held' } })
    expect(await dueAt()).toBe(world.now + world.ledger.timings.recheckMs)
  })

  it('IL12: is due at once if the halt was lifted before the run was held, as the halt is read once more', async () => {
    await runIs('running')
    await halt()
    // The claim was refused by the halt, and the halt is lifted while the run becomes held.
    world.wire.beforeAnswer(about('UpdateItem', `RUN#${requestOf().runId}`), async () => {
      await lift()
    })
    expect(await holdForHalt(world.coordinator, await run())).toBe(true)
    expect(await run()).toMatchObject({ state: 'held' })
    expect(await dueAt()).toBe(world.now)
  })

  it('LE12: reuses completed reviews once resumed, and asks anew for ended reviews', async () => {
    await runIs('running')
    await worked(world, await admitted(world, 0))
    await admitted(world, 1)
    await halt()
    await holdForHalt(world.coordinator, await run())
    await lift()
    const resumed = await resumeRun(world.ledger, await run(), world.now)
    expect(resumed).toMatchObject({ state: 'accepted', attempt: 2 })
    expect(await run()).toEqual(resumed)
    expect(await asked(world, 0, { attempt: 2 })).toMatchObject({ state: 'completed' })
    expect(await asked(world, 1, { attempt: 2 })).toMatchObject({ state: 'waiting', attempt: 2 })
  })

  it.each(['concluded', 'ending', 'ended'] as const)('one that is %s is not held', async (state) => {
    const before = await runIs(state)
    await halt()
    expect(await holdForHalt(world.coordinator, before)).toBe(false)
    expect(await run()).toEqual(before)
  })

  it('IL11: is not held by a halt met by an earlier attempt', async () => {
    const first = await runIs('held')
    await resumeRun(world.ledger, first, world.now)
    const before = await world.items()
    expect(await holdForHalt(world.coordinator, first)).toBe(false)
    expect(await world.items()).toEqual(before)
  })

  it('makes one attempt if resumed by two processes at once', async () => {
    const held = await runIs('held')
    const answers = await Promise.all([1, 2].map(() => resumeRun(world.ledger, held, world.now)))
    expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1)
    expect(await run()).toMatchObject({ attempt: 2 })
  })

  it('opens its series in the next attempt if no attempt planned for the series', async () => {
    const held = await runIs('held', requestOf({ opensSeries: true }))
    expect(await resumeRun(world.ledger, held, world.now)).toMatchObject({ opensSeries: true })
    const again = await updateRun(world.ledger, await run(), { state: 'held', plan: 'p' }, { now: world.now })
    expect(again && (await resumeRun(world.ledger, again, world.now))).toMatchObject({ opensSeries: false })
  })
})

describe('an edited description', () => {
  const edited = (index = 0) =>
    requestOf({ cause: `text:${index}`, kind: 'analyzers', payloadDigest: `p${index}`, eventAt: 2_000 })

  it('PR6: waits for the review of its head, and is due once the review’s run has ended', async () => {
    await runIs('running')
    const waiting = await runIs('accepted', edited(), 'd2')
    expect(await holdBehind(world.coordinator, waiting, requestOf().runId)).toBe(true)
    expect(await run(edited())).toMatchObject({ state: 'held', reason: { code: 'attempt_waits' } })
    expect(await dueAt(edited())).toBe(world.now + world.ledger.timings.recheckMs)
    await beginEnding(world.ledger, await run(), { outcome: 'closed', reason, now: world.now })
    world.now += 1_000
    await finishEnding(world.ending, requestOf().runId)
    expect(await dueAt(edited())).toBe(world.now)
  })

  it('PR6: is due once its head is reviewed', async () => {
    await runIs('concluded')
    const waiting = await runIs('accepted', edited(), 'd2')
    await holdBehind(world.coordinator, waiting, requestOf().runId)
    world.now += 1_000
    expect(await finishIfShown(world.coordinator, requestOf().runId)).toBe(true)
    expect(await dueAt(edited())).toBe(world.now)
  })

  it('PR6: is due at once if the awaited run had ended before it could be asked to wake', async () => {
    const review = await runIs('concluded')
    await endRun(world.ledger, review, { outcome: 'reviewed', now: world.now })
    const waiting = await runIs('accepted', edited(), 'd2')
    expect(await holdBehind(world.coordinator, waiting, review.runId)).toBe(true)
    expect(await dueAt(edited())).toBe(world.now)
  })

  it('PR6: edited very often, keeps the awaited run small', async () => {
    await runIs('running')
    for (let index = 0; index <= AWAITED_BY_MAX; index += 1) {
      const waiting = await runIs('accepted', edited(index), `e${index}`)
      await holdBehind(world.coordinator, waiting, requestOf().runId)
      await holdBehind(world.coordinator, waiting, requestOf().runId)
    }
    const { awaitedBy } = await run()
    expect(awaitedBy).toHaveLength(AWAITED_BY_MAX)
    expect(awaitedBy).toContain(edited(AWAITED_BY_MAX).runId)
  })
})

describe('a head on GitHub whose run was superseded', () => {
  const h1 = requestOf({ head: sha('h1') })
  const h2 = requestOf({ head: sha('h2') })
  const revive = async (updatedAt = h1.eventAt, state = 'open') =>
    reviveHead(world.coordinator, await run(h1), { head: { sha: h2.head }, state, updatedAt })

  it('IL1, D3: of two heads of one second, the head on GitHub is asked for again, once', async () => {
    await runIs('concluded', h1)
    const lost = await runIs('running', h2, 'd2')
    await beginEnding(world.ledger, lost, { outcome: 'superseded', reason, now: world.now })
    await endRun(world.ledger, await run(h2), { outcome: 'superseded', now: world.now })
    await revive()
    expect(await run(h2)).toMatchObject({ state: 'accepted', attempt: 2 })
    expect(await dueAt(h2)).toBe(world.now)
    const before = await world.items()
    await revive()
    expect(await world.items()).toEqual(before)
  })

  it('IL1: is asked for again after the end of its ending run, as of its latest known event', async () => {
    await runIs('concluded', h1)
    const lost = await runIs('running', h2, 'd2')
    await beginEnding(world.ledger, lost, { outcome: 'superseded', reason, now: world.now })
    await runIs('ending', { ...h2, eventAt: h2.eventAt + 1_000, opensSeries: true }, 'd3')
    await revive(h2.eventAt + 2_000)
    expect(await run(h2)).toMatchObject({ state: 'ending', attempt: 1 })
    await finishEnding(world.ending, h2.runId)
    const eventAt = h2.eventAt + 2_000
    expect(await run(h2)).toMatchObject({ state: 'accepted', attempt: 2, eventAt, opensSeries: true })
  })

  it('IL1: of an earlier event is asked for as of GitHub’s view, and may claim', async () => {
    const earlier = { ...h2, eventAt: h1.eventAt - 5_000 }
    const lost = await runIs('running', earlier, 'd2')
    await runIs('concluded', h1)
    await endRun(world.ledger, lost, { outcome: 'superseded', now: world.now })
    await revive(h1.eventAt + 3_000)
    expect(await run(h2)).toMatchObject({ state: 'accepted', attempt: 2, eventAt: h1.eventAt + 3_000 })
  })

  it('IL1: not begun yet, and of an earlier event than the last speaker, is not superseded at its begin', async () => {
    const waiting = await runIs('accepted', { ...h2, eventAt: h1.eventAt - 5_000 }, 'd2')
    await runIs('concluded', h1)
    await revive(h1.eventAt + 3_000)
    expect(await run(h2)).toEqual({
      ...waiting,
      eventAt: h1.eventAt + 3_000,
      deliveries: ['d2', expect.stringMatching(/^revived:/)],
      version: waiting.version + 1,
    })
  })

  it('D3: of a closed run is asked for again while GitHub shows the pull request open, but not while closed', async () => {
    await runIs('concluded', h1)
    await endRun(world.ledger, await runIs('running', h2, 'd2'), { outcome: 'closed', now: world.now })
    const before = await world.items()
    await revive(h1.eventAt, 'closed')
    expect(await world.items()).toEqual(before)
    await revive()
    expect(await run(h2)).toMatchObject({ state: 'accepted', attempt: 2 })
  })

  it.each(['reviewed', 'cancelled', 'failed'] as const)('one that was %s is left alone', async (outcome) => {
    await runIs('concluded', h1)
    await endRun(world.ledger, await runIs('running', h2, 'd2'), { outcome, now: world.now })
    const before = await world.items()
    await revive()
    expect(await world.items()).toEqual(before)
  })

  it('is left alone if its run is live, or has no webhook yet', async () => {
    await runIs('concluded', h1)
    await revive()
    expect(await readRun(world.ledger, h2.runId)).toBeUndefined()
    const live = await runIs('running', h2, 'd2')
    await revive()
    expect(await run(h2)).toEqual(live)
  })
})
