import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { acceptRun, beginEnding, endRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { keyOf } from '../../../shared/ledger/table.ts'
import type { Reason, Run, RunRequest } from '../../../shared/runs/run.ts'
import { causeOf, runIdOf } from '../../../shared/runs/run-identity.ts'
import { requestOf, sha } from '../samples.ts'
import { startWorld, type World } from './world.ts'

let world: World
let writers = 0
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.close())

const reason: Reason = { code: 'execution_failed', sentence: 'It ended.' }

function accept(request: RunRequest, deliveryId: string) {
  writers += 1
  return acceptRun(world.ledger, request, {
    deliveryId,
    writer: `writer-${writers}`,
    now: world.now,
    signal: AbortSignal.timeout(8_000),
  })
}

async function stored(request: RunRequest): Promise<Run> {
  const run = await readRun(world.ledger, request.runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  return run
}

/** The run, brought to its end as failed. */
async function fail(request: RunRequest): Promise<Run> {
  await beginEnding(world.ledger, await stored(request), { outcome: 'failed', reason, now: world.now })
  expect(await endRun(world.ledger, await stored(request), { outcome: 'failed', now: world.now })).toBe(true)
  return stored(request)
}

describe('acceptRun', () => {
  it('PL5: a repeated delivery whose answer was lost is a replay and changes nothing', async () => {
    const first = await accept(requestOf(), 'd1')
    const before = await world.items()
    const again = await accept(requestOf(), 'd1')
    expect(first.kind).toBe('created')
    expect(again).toEqual({ kind: 'replayed', run: first.run })
    expect(await world.items()).toEqual(before)
  })

  it('PL6, AW16: concurrent deliveries are one run, created by exactly one of the deliveries', async () => {
    const answers = await Promise.all(['d1', 'd2', 'd3', 'd1'].map((delivery) => accept(requestOf(), delivery)))
    expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(1)
    expect(new Set(answers.map(({ run }) => run.runId)).size).toBe(1)
    expect(await world.items()).toHaveLength(1)
    expect((await stored(requestOf())).deliveries.toSorted()).toEqual(['d1', 'd2', 'd3'])
    expect((await stored(requestOf())).attempt).toBe(1)
  })

  it('AW17: opened, synchronize and reopened with one head are one run; another head is another run', async () => {
    await accept(requestOf({ opensSeries: true }), 'd1')
    await accept(requestOf(), 'd2')
    await accept(requestOf({ opensSeries: true }), 'd3')
    await accept(requestOf({ head: sha('next') }), 'd4')
    expect(await world.items()).toHaveLength(2)
  })

  it('AW32: the first write whose answer is lost is created, not found', async () => {
    world.wire.loseAnswer(({ operation }) => operation === 'PutItem')
    expect((await accept(requestOf(), 'd1')).kind).toBe('created')
  })

  it('LE15: the same cause with another payload is a conflict, and nothing changes', async () => {
    const cause = causeOf.comment(9)
    const asked = requestOf({ cause, payloadDigest: 'a focus' })
    await accept(asked, 'd1')
    const before = await world.items()
    for (const delivery of ['d1', 'd2']) {
      expect((await accept({ ...asked, payloadDigest: 'another focus' }, delivery)).kind).toBe('conflict')
    }
    expect(await world.items()).toEqual(before)
    await fail(asked)
    expect((await accept({ ...asked, payloadDigest: 'another focus' }, 'd3')).kind).toBe('conflict')
  })

  it('LE16: a new delivery raises a failed run: same run, next attempt, no member of the last attempt', async () => {
    await accept(requestOf(), 'd1')
    const run = await stored(requestOf())
    await updateRun(world.ledger, run, { state: 'running', plan: 'p', planKey: 'k', token: 't' }, { now: world.now })
    await fail(requestOf())
    world.now += 60_000
    const raised = await accept(requestOf({ eventAt: 5_000 }), 'd2')
    expect(raised.kind).toBe('raised')
    expect(raised.run).toEqual(await stored(requestOf()))
    expect(raised.run).toMatchObject({
      attempt: 2,
      state: 'accepted',
      acceptedAt: world.now,
      eventAt: 5_000,
      deliveries: ['d1', 'd2'],
    })
    for (const member of ['outcome', 'reason', 'plan', 'planKey', 'token'])
      expect(raised.run).not.toHaveProperty(member)
    expect(await world.item(keyOf.run(run.runId))).not.toHaveProperty('expiresAt')
  })

  it('LE16: concurrent deliveries raise a single attempt', async () => {
    await accept(requestOf(), 'd1')
    await fail(requestOf())
    await Promise.all(['d2', 'd3', 'd4'].map((delivery) => accept(requestOf(), delivery)))
    expect(await stored(requestOf())).toMatchObject({ attempt: 2, state: 'accepted' })
  })

  it('IL15: a repeated delivery is a replay, also after the joined run has failed', async () => {
    await accept(requestOf(), 'd1')
    expect((await accept(requestOf(), 'd2')).kind).toBe('joined')
    await fail(requestOf())
    expect((await accept(requestOf(), 'd2')).kind).toBe('replayed')
    expect((await stored(requestOf())).attempt).toBe(1)
  })

  it('a delivery that joins a live run becomes its latest event; an older delivery takes nothing back', async () => {
    await accept(requestOf(), 'd1')
    expect((await accept(requestOf({ eventAt: 5_000 }), 'd2')).run.eventAt).toBe(5_000)
    await accept(requestOf({ eventAt: 3_000 }), 'd3')
    expect(await stored(requestOf())).toMatchObject({ eventAt: 5_000, deliveries: ['d1', 'd2', 'd3'] })
  })

  it('D3: a late delivery raises a run as of the run’s latest event, so that no earlier closing ends the run', async () => {
    await accept(requestOf({ eventAt: 7_000 }), 'd1')
    await fail(requestOf())
    expect((await accept(requestOf({ eventAt: 1_000 }), 'd2')).run).toMatchObject({ attempt: 2, eventAt: 7_000 })
    const closing = { outcome: 'closed', reason, now: world.now, eventAt: 6_000 } as const
    expect(await beginEnding(world.ledger, await stored(requestOf()), closing)).toBe(false)
  })

  it('the later of two requests during an ending is the next attempt, and opens a series if either request did', async () => {
    await accept(requestOf(), 'd1')
    await beginEnding(world.ledger, await stored(requestOf()), { outcome: 'closed', reason, now: world.now })
    await accept(requestOf({ eventAt: 9_000, opensSeries: true }), 'd2')
    await accept(requestOf({ eventAt: 8_000 }), 'd3')
    await endRun(world.ledger, await stored(requestOf()), { outcome: 'closed', now: world.now })
    expect(await stored(requestOf())).toMatchObject({ attempt: 2, eventAt: 9_000, opensSeries: true })
  })

  it('a push back to a head whose run is ending is reviewed: as the next attempt, once the ending is done', async () => {
    await accept(requestOf(), 'd1')
    await beginEnding(world.ledger, await stored(requestOf()), { outcome: 'superseded', reason, now: world.now })
    const joined = await accept(requestOf({ eventAt: 9_000 }), 'd2')
    expect(joined).toMatchObject({ kind: 'joined', run: { attempt: 1, state: 'ending' } })
    expect(await stored(requestOf())).toMatchObject({ attempt: 1, state: 'ending', outcome: 'superseded' })

    expect(await endRun(world.ledger, await stored(requestOf()), { outcome: 'superseded', now: world.now })).toBe(true)
    const next = await stored(requestOf())
    expect(next).toMatchObject({ attempt: 2, state: 'accepted', eventAt: 9_000, deliveries: ['d1', 'd2'] })
    for (const member of ['outcome', 'reason', 'askedAgain']) expect(next).not.toHaveProperty(member)
    expect(await world.item(keyOf.run(next.runId))).toMatchObject({ dueAt: world.now })
  })

  it('a new run is due, so that the sweeper starts the run after its webhook’s death', async () => {
    const { run } = await accept(requestOf(), 'd1')
    expect(await world.item(keyOf.run(run.runId))).toMatchObject({
      dueAt: world.now + world.ledger.timings.recheckMs,
      listedPk: 'DAY#2026-01-05',
    })
  })

  it('LE11: pull request 5 of two repositories with like names are two runs', async () => {
    const [slash, underscore] = [
      { id: 1, owner: 'owner', name: 'repo', installationId: 1 },
      { id: 2, owner: 'owner_repo', name: 'repo', installationId: 1 },
    ]
    for (const repository of [slash, underscore]) {
      await accept(requestOf({ repository, runId: runIdOf(repository.id, 5, 'c'), cause: 'c', number: 5 }), 'd1')
    }
    expect(await world.items()).toHaveLength(2)
  })
})

describe('the end of a run', () => {
  it('IL11: an ending of an earlier attempt leaves the later attempt alone', async () => {
    await accept(requestOf(), 'd1')
    const first = await stored(requestOf())
    await fail(requestOf())
    await accept(requestOf(), 'd2')
    const before = await world.items()
    expect(await beginEnding(world.ledger, first, { outcome: 'cancelled', reason, now: world.now })).toBe(false)
    expect(await endRun(world.ledger, first, { outcome: 'cancelled', now: world.now })).toBe(false)
    expect(await world.items()).toEqual(before)
  })

  it('closed, then reopened for the same head before the close was seen: the older event ends nothing', async () => {
    await accept(requestOf({ eventAt: 1_000 }), 'd1')
    await accept(requestOf({ eventAt: 7_000, opensSeries: true }), 'd2')
    const run = await stored(requestOf())
    const closing = { outcome: 'closed', reason, now: world.now } as const
    expect(await beginEnding(world.ledger, run, { ...closing, eventAt: 6_000 })).toBe(false)
    expect(await stored(requestOf())).toEqual(run)
    expect(await beginEnding(world.ledger, run, { ...closing, eventAt: 8_000 })).toBe(true)
    expect(await stored(requestOf())).not.toHaveProperty('askedAgain')
  })

  it('a run closed and reopened within one second ends, and its next attempt asks GitHub for the order', async () => {
    await accept(requestOf({ eventAt: 7_000 }), 'd1')
    const closing = { outcome: 'closed', reason, now: world.now, eventAt: 7_000 } as const
    expect(await beginEnding(world.ledger, await stored(requestOf()), closing)).toBe(true)
    await endRun(world.ledger, await stored(requestOf()), { outcome: 'closed', now: world.now })
    expect(await stored(requestOf())).toMatchObject({ attempt: 2, state: 'accepted', eventAt: 7_000 })
    expect(await world.item(keyOf.run(requestOf().runId))).toMatchObject({ dueAt: world.now })
  })

  it('D3: a closing in the second of an open view asks for the run once more', async () => {
    await accept(requestOf({ eventAt: 1_000 }), 'd1')
    const closing = { outcome: 'closed', reason, now: world.now, eventAt: 7_000 } as const
    await beginEnding(world.ledger, await stored(requestOf()), { ...closing, asksAgain: true })
    expect(await stored(requestOf())).toMatchObject({ state: 'ending', askedAgain: { eventAt: 1_000 } })
  })

  it('IL1: a run that joined a later event after the view of GitHub ends, and its next attempt asks again', async () => {
    await accept(requestOf({ eventAt: 1_000 }), 'd1')
    await accept(requestOf({ eventAt: 7_000 }), 'd2')
    const seen = { outcome: 'superseded', reason, now: world.now, asOf: 1_000 } as const
    expect(await beginEnding(world.ledger, await stored(requestOf()), seen)).toBe(true)
    await endRun(world.ledger, await stored(requestOf()), { outcome: 'superseded', now: world.now })
    expect(await stored(requestOf())).toMatchObject({ attempt: 2, state: 'accepted', eventAt: 7_000 })
    expect(await beginEnding(world.ledger, await stored(requestOf()), { ...seen, asOf: 7_000 })).toBe(true)
    expect(await stored(requestOf())).not.toHaveProperty('askedAgain')
  })

  it('an ending begins once: the first reason stands, and a second caller completes the ending too', async () => {
    await accept(requestOf(), 'd1')
    const run = await stored(requestOf())
    expect(await beginEnding(world.ledger, run, { outcome: 'closed', reason, now: 1 })).toBe(true)
    const other: Reason = { code: 'head_superseded', sentence: 'Another.' }
    expect(await beginEnding(world.ledger, run, { outcome: 'superseded', reason: other, now: 2 })).toBe(true)
    expect(await stored(requestOf())).toMatchObject({ state: 'ending', outcome: 'closed', reason })
  })

  it('an ended run is due no more, and is kept for its retention in seconds', async () => {
    await accept(requestOf(), 'd1')
    const { runId } = await fail(requestOf())
    const item = await world.item(keyOf.run(runId))
    expect(item).not.toHaveProperty('dueAt')
    expect(String(item?.expiresAt)).toMatch(/^\d{10}$/) // AW29: DynamoDB's TTL counts seconds
    expect(await beginEnding(world.ledger, await stored(requestOf()), { outcome: 'closed', reason, now: 1 })).toBe(
      false,
    )
  })
})

describe('updateRun', () => {
  it('an update changes the run at the version as read, and at no other version', async () => {
    await accept(requestOf(), 'd1')
    const { now } = world
    await updateRun(world.ledger, await stored(requestOf()), { token: 't' }, { now })
    const run = await stored(requestOf())
    const next = await updateRun(world.ledger, run, { planKey: 'k' }, { now, remove: ['token'] })
    expect(next).toEqual(await stored(requestOf()))
    expect(next).not.toHaveProperty('token')
    expect(await updateRun(world.ledger, run, { planKey: 'other' }, { now })).toBeUndefined()
    expect((await stored(requestOf())).planKey).toBe('k')
  })
})
