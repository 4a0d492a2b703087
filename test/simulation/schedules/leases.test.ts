/** IL3, IL4 and IL6: late workers, repeated answers, slots without a release. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { calls, writes } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const takesLease = writes('UpdateItem', /^RUN#.* REVIEW#/, 'leased')
const completes = writes('UpdateItem', /^RUN#.* REVIEW#/, 'completed')
const writesFleet = writes('UpdateItem', /^FLEET#main FLEET$/)

describe('IL3: a worker that stands still loses its lease, and the review is done once', () => {
  test.each([
    ['before the reading', { room: 'review', after: takesLease }],
    ['before the write of the result', { room: 'review', before: completes }],
  ] as const)('%s', async (_when, where) => {
    let readings = 0
    schedule = await openSchedule({
      coldStart,
      lens: (_name, { signal }) => {
        if (!signal.aborted) readings += 1
        return { durationMs: 1_000 }
      },
    })
    const late = schedule.pauseAt(where)
    const { number, head } = await schedule.open()
    await late.reached()
    expect(schedule.review(head)).toMatchObject({ state: 'leased', epoch: 1 })

    await schedule.pass(181_000)
    await schedule.sweep()
    expect(schedule.review(head)).toMatchObject({ state: 'planned', epoch: 2 })
    late.resume()
    await schedule.rest()

    expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 2 })
    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(readings).toBe(1)
    expect(schedule.world.github.pullRequest(REPOSITORY, number).reviews).toHaveLength(1)
    const [execution] = schedule.world.machine.executions()
    expect(execution?.entered.get('Admit')).toBe(2)
  })
})

describe('IL3: the slot of a dead worker is granted again', () => {
  /** The worker is dead, and its last request is still on the way. */
  async function openDead(
    where: { at: 'review.leased' } | { before: typeof completes },
    options: { hidesWhoDied?: boolean } = {},
  ) {
    schedule = await openSchedule({ coldStart, limits: { configured: 1 }, ...options })
    const dead = schedule.pauseAt({ room: 'review', ...where })
    const { number, head } = await schedule.open()
    await dead.reached()
    const { owner } = schedule.review(head)
    dead.kill()
    return { number, head, owner, dead }
  }

  test.each([
    ['right after the lease', { at: 'review.leased' }],
    ['right before the write of the result', { before: completes }],
  ] as const)('within seconds, if Lambda names the worker: death %s', async (_when, where) => {
    const { number, head, owner, dead } = await openDead(where)

    await schedule.until('its slot is granted again', () => schedule.review(head).epoch === 2, 10_000)
    expect(schedule.review(head)).toMatchObject({ losses: 1 })
    dead.land()
    await schedule.until('another one works', () => schedule.review(head).owner !== undefined, 3_000)
    const { owner: successor } = schedule.review(head)
    expect(successor).not.toBe(owner)

    await schedule.rest()
    expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 2, owner: successor, losses: 1 })
    expect(schedule.world.github.pullRequest(REPOSITORY, number).reviews).toHaveLength(1)
  })

  test('after the end of the lease, if Lambda doesn’t name the worker', async () => {
    const { head, owner } = await openDead({ at: 'review.leased' }, { hidesWhoDied: true })

    await schedule.pass(150_000)
    await schedule.sweep()
    expect(schedule.review(head)).toMatchObject({ state: 'leased', epoch: 1, owner })
    await schedule.pass(35_000)
    await schedule.sweep()
    await schedule.until('another one works', () => schedule.review(head).epoch === 2, 5_000)

    await schedule.rest()
    expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 2, losses: 1 })
  })
})

test('IL4: a second answer to a granted token takes nothing back from the working worker', async () => {
  schedule = await openSchedule({ coldStart, limits: { configured: 2 }, lens: () => ({ durationMs: 90_000 }) })
  // The slot makes the fleet due within a minute; Admit stands still below for less than its function's timeout.
  const other = await schedule.open()
  await schedule.until('another one works', () => schedule.review(other.head).state === 'leased')
  await schedule.pass(45_000)
  const admit = schedule.pauseAt({ room: 'admit', after: writesFleet })
  const { head } = await schedule.open('b.ts')
  await admit.reached()
  await schedule.pass(20_000)
  const sweeper = schedule.pauseAt({ room: 'sweep', before: calls('SendTaskSuccess') })
  schedule.sweepLater()
  await sweeper.reached()
  expect(schedule.review(head)).toMatchObject({ state: 'granted', epoch: 1 })

  admit.resume()
  await schedule.until('a worker has the lease', () => schedule.review(head).state === 'leased')
  const { owner } = schedule.review(head)
  const dead = schedule.world.trace.lines.length
  sweeper.resume()
  await schedule.pass(5_000)

  expect(schedule.world.trace.lines.slice(dead).some((line) => /← machine 400 .*Task/.test(line))).toBe(true)
  expect(schedule.review(head)).toMatchObject({ state: 'leased', epoch: 1, owner })
  const fleet = schedule.world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })
  expect(Object.values(fleet?.slots as object)).toHaveLength(2)
  await schedule.rest()
  expect(schedule.review(head)).toMatchObject({ state: 'completed', epoch: 1, owner })
})

test('IL6: the sweeper releases and grants the slot of a worker that completed and died', async () => {
  schedule = await openSchedule({ coldStart, limits: { configured: 1 } })
  const worker = schedule.pauseAt({ room: 'review', after: completes })
  const first = await schedule.open()
  await schedule.until('the first one works', () => schedule.review(first.head).state === 'leased')
  const second = await schedule.open('b.ts')
  await schedule.until('the second one waits', () => schedule.review(second.head).state === 'waiting')
  await worker.reached()
  worker.kill()
  await schedule.until('the first one is reviewed', () => schedule.run(first.head).outcome === 'reviewed')
  await schedule.pass(60_000)
  expect(schedule.review(second.head)).toMatchObject({ state: 'waiting' })

  await schedule.sweep()
  await schedule.until('the second one works', () => schedule.review(second.head).state === 'leased', 5_000)
  await schedule.rest()
  expect(schedule.run(second.head)).toMatchObject({ outcome: 'reviewed' })
})
