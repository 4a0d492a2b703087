/**
 * IL7, IL8, IL9 and IL13: unfinished grants, queue markers, tickets of two epochs, raised limits. No sweep helps unless
 * the title says so.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Retry } from '../../../shared/base/errors.ts'
import { poolOfModel } from '../../../shared/fleet/pools.ts'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import type { LensBehaviourOf } from '../simulated-lens.ts'
import { queries, writes } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const writesFleet = writes('UpdateItem', /^FLEET#main FLEET$/)
const grants = writes('UpdateItem', /^RUN#.* REVIEW#/, 'granted')
const takesLease = writes('UpdateItem', /^RUN#.* REVIEW#/, 'leased')
const putsTicket = writes('PutItem', /^QUEUE#/)
const dropsTicket = writes('DeleteItem', /^QUEUE#/)
const putsMarker = writes('PutItem', /^FLEET#main WAITING#/)
const dropsMarker = writes('DeleteItem', /^FLEET#main WAITING#/)

/** The pool of the world's only model. */
const POOL = poolOfModel('simulated')
const LONG_MS = 60_000
/** A hand-over takes a few calls. */
const AT_ONCE_MS = 2_000

/** `long.ts` takes a minute, everything else 20 s. */
const lens: LensBehaviourOf = (_name, { files }) => ({
  durationMs: files.some(({ path }) => path === 'long.ts') ? LONG_MS : 20_000,
})

const isWorking = (head: string) => schedule.review(head).state === 'leased'
const isWaiting = (head: string) => schedule.review(head).state === 'waiting'
const tickets = () => schedule.world.table.items('QUEUE#').map(({ reviewId, epoch }) => ({ reviewId, epoch }))
const isAdmitIdle = () => [...schedule.world.functions.containers].every(({ room, idle }) => room !== 'admit' || idle)

async function working(file: string) {
  const pull = await schedule.open(file)
  await schedule.until(`${file} is being read`, () => isWorking(pull.head))
  return pull
}

async function waiting(file: string) {
  const pull = await schedule.open(file)
  await schedule.until(`${file} waits`, () => isWaiting(pull.head) && tickets().length > 0 && isAdmitIdle())
  return pull
}

describe('IL7: a grant whose writer dies right after the fleet’s write is finished', () => {
  test('by the sweeper, if Admit died', async () => {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 1 } })
    const admit = schedule.pauseAt({ room: 'admit', before: grants })
    const { head } = await schedule.open()
    await admit.reached()
    admit.kill()
    await schedule.pass(61_000)
    expect(isWaiting(head)).toBe(true)
    await schedule.sweep()
    await schedule.until('it works', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 1 })
  })

  test('by the next worker that releases a slot, if Admit died', async () => {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 2 } })
    const first = await working('a.ts')
    const admit = schedule.pauseAt({ room: 'admit', before: grants })
    const { head } = await schedule.open('b.ts')
    await admit.reached()
    admit.kill()
    await schedule.until('the first is done', () => schedule.review(first.head).state === 'completed')
    await schedule.until('the second works', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 1 })
  })

  test('by the next worker that releases a slot, if a releasing worker died', async () => {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 2 } })
    const long = await working('long.ts')
    await working('a.ts')
    const third = await waiting('b.ts')
    const releaser = schedule.pauseAt({ room: 'review', before: grants })
    await releaser.reached()
    releaser.kill()
    await schedule.until('the long one is done', () => schedule.review(long.head).state === 'completed')
    await schedule.until('the third works', () => isWorking(third.head), AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.review(third.head)).toMatchObject({ state: 'completed', epoch: 1 })
  })
})

describe('IL8: a ticket is served although its queue’s marker is being deleted', () => {
  /** A review works; the queue is empty, but the marker of a closed pull request's review still stands. */
  async function emptyQueue(): Promise<void> {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 1 } })
    await working('a.ts')
    const gone = await waiting('b.ts')
    await schedule.pass(1_000)
    await schedule.act((github) => github.closePullRequest(REPOSITORY, gone.number))
    await schedule.until('it has gone', () => schedule.run(gone.head).state === 'ended' && tickets().length === 0)
  }

  test('with the marker put before the deletion', async () => {
    await emptyQueue()
    const releaser = schedule.pauseAt({ room: 'review', before: dropsMarker })
    await releaser.reached()
    const { head } = await waiting('c.ts')
    releaser.resume()
    await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
  })

  test('with the marker put after the deletion', async () => {
    await emptyQueue()
    const releaser = schedule.pauseAt({ room: 'review', after: queries('QUEUE#') })
    await releaser.reached()
    const admit = schedule.pauseAt({ room: 'admit', before: putsMarker })
    const { head } = await schedule.open('c.ts')
    await admit.reached()
    releaser.resume()
    const markers = () => schedule.world.table.items('FLEET#main', 'WAITING#')
    await schedule.until('the marker is gone', () => markers().length === 0)
    await schedule.pass(1_000)
    expect(isWaiting(head)).toBe(true)
    admit.resume()
    await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
  })
})

describe('IL9: a leftover of epoch 1 doesn’t touch the ticket of epoch 2', () => {
  /**
   * The review of `b.ts` is granted at epoch 1; its worker stands still, so the review is taken back and waits again.
   */
  async function takenBack(head: string): Promise<void> {
    await schedule.until('it is granted', () => schedule.review(head).state === 'granted')
    await schedule.pass(121_000)
    await schedule.sweep()
    expect(schedule.review(head)).toMatchObject({ state: 'waiting', epoch: 2 })
    expect(tickets()).toContainEqual(expect.objectContaining({ epoch: 2 }))
  }

  test('if the grantor stands still before the deletion of its ticket', async () => {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 1 } })
    await working('a.ts')
    const second = await waiting('b.ts')
    await waiting('long.ts')
    const grantor = schedule.pauseAt({ room: 'review', before: dropsTicket })
    const worker = schedule.pauseAt({ room: 'review', before: takesLease })
    await grantor.reached()
    await worker.reached()
    await takenBack(second.head)

    grantor.resume()
    await schedule.pass(1_000)
    expect(tickets()).toContainEqual(expect.objectContaining({ epoch: 2 }))
    worker.resume()
    await schedule.rest()
    expect(schedule.review(second.head)).toMatchObject({ state: 'completed', epoch: 2 })
  })

  test('if Admit’s ticket of epoch 1 lands beside the ticket of epoch 2', async () => {
    schedule = await openSchedule({ coldStart, lens, limits: { configured: 1 } })
    await working('a.ts')
    const admit = schedule.pauseAt({ room: 'admit', before: putsTicket })
    const second = await schedule.open('b.ts')
    await admit.reached()
    admit.kill()
    await schedule.until('it waits', () => tickets().length === 1)
    await waiting('long.ts')
    const worker = schedule.pauseAt({ room: 'review', before: takesLease })
    await worker.reached()
    await takenBack(second.head)

    admit.land()
    await schedule.pass(1_000)
    expect(tickets().map(({ epoch }) => epoch)).toEqual(expect.arrayContaining([1, 2]))
    worker.resume()
    await schedule.rest()
    expect(schedule.review(second.head)).toMatchObject({ state: 'completed', epoch: 2 })
  })
})

describe('IL13: a ticket that comes while a limit is raised is served', () => {
  const RAISES = [
    ['the limit of the fleet', { configured: 1 }, { configured: 2 }],
    ['the limit of a pool', { pools: { [POOL]: { configured: 1 } } }, { pools: { [POOL]: null } }],
    ['the limit of each repository', { perRepository: 1 }, { perRepository: null }],
  ] as const

  describe.each(RAISES)('%s', (_limit, limits, raised) => {
    test('after the API has seen an empty queue, by an Admit that saw the old limit', async () => {
      schedule = await openSchedule({ coldStart, lens, limits })
      await working('long.ts')
      const admit = schedule.pauseAt({ room: 'admit', before: putsTicket })
      const { head } = await schedule.open('b.ts')
      await admit.reached()
      await schedule.ask('PATCH /fleet/limits', {}, raised)
      expect(isWaiting(head)).toBe(true)
      admit.resume()
      await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
      await schedule.rest()
    })

    test('after the API has seen an empty queue, before the API ends', async () => {
      schedule = await openSchedule({ coldStart, lens, limits })
      await working('long.ts')
      const api = schedule.pauseAt({ room: 'api', after: queries('FLEET#main') })
      schedule.askLater('PATCH /fleet/limits', {}, raised)
      await api.reached()
      const { head } = await schedule.open('b.ts')
      await schedule.until('the ticket is served', () => isWorking(head))
      api.resume()
      await schedule.rest()
    })

    test('before the API writes the new limit', async () => {
      schedule = await openSchedule({ coldStart, lens, limits })
      await working('long.ts')
      const api = schedule.pauseAt({ room: 'api', before: writesFleet })
      schedule.askLater('PATCH /fleet/limits', {}, raised)
      await api.reached()
      const { head } = await waiting('b.ts')
      api.resume()
      await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
      await schedule.rest()
    })
  })
})

describe('IL13: a ticket that comes while a pool opens is served', () => {
  /** The retry time that the throttled model asks for, ms. */
  const ASKED_MS = 20_000

  /** The first reading is throttled and closes the pool; later a probe is being read. */
  async function probing(): Promise<void> {
    let readings = 0
    schedule = await openSchedule({
      coldStart,
      lens: () => {
        readings += 1
        const failure = new Retry('model_throttled', 'Too many requests.', ASKED_MS)
        return { durationMs: readings === 1 ? 1_000 : 40_000, ...(readings === 1 ? { failure } : {}) }
      },
    })
    const probe = await schedule.open('a.ts')
    await schedule.until('it is parked', () => Object.keys(closed()).length === 1)
    await schedule.pass(2 * ASKED_MS)
    for (let sweeps = 0; sweeps < 5 && !isWorking(probe.head); sweeps += 1) {
      await schedule.pass(30_000)
      await schedule.sweep()
      await schedule.pass(1_000)
    }
    expect(isWorking(probe.head)).toBe(true)
  }

  const closed = () => (schedule.world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })?.closed ?? {}) as object

  test('after the probe has seen an empty queue, by an Admit that saw the pool closed', async () => {
    await probing()
    const opens = schedule.pauseAt({ room: 'review', before: writesFleet })
    await opens.reached()
    const admit = schedule.pauseAt({ room: 'admit', before: putsTicket })
    const { head } = await schedule.open('b.ts')
    await admit.reached()
    opens.resume()
    await schedule.until('the pool is open', () => Object.keys(closed()).length === 0)
    await schedule.pass(5_000)
    expect(isWaiting(head)).toBe(true)
    admit.resume()
    await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
  })

  test('before the probe writes the pool open', async () => {
    await probing()
    const opens = schedule.pauseAt({ room: 'review', before: writesFleet })
    await opens.reached()
    const { head } = await waiting('b.ts')
    opens.resume()
    await schedule.until('the ticket is served', () => isWorking(head), AT_ONCE_MS)
    await schedule.rest()
  })
})
