/** IL11: each step of an ending, delayed until the next attempt works. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { calls, queries, type RequestMatch, transacts, writes } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const STEPS: readonly (readonly [string, RequestMatch])[] = [
  ['reads its reviews', queries('RUN#')],
  ['ends a review', writes('UpdateItem', /^RUN#.* REVIEW#/, 'ended')],
  ['deletes a ticket', writes('DeleteItem', /^QUEUE#/)],
  ['releases slots', writes('UpdateItem', /^FLEET#main FLEET$/)],
  ['stops the execution', calls('StopExecution')],
  ['reads its messages', queries('PR#')],
  ['raises its resources', transacts(/^PR#.* SHOWN$/)],
  ['ends the run', writes('UpdateItem', /^RUN#.* RUN$/, 'ended')],
]

describe('IL11: attempt 2 is untouched when the late ending of attempt 1', () => {
  test.each(STEPS)('%s', async (_step, request) => {
    schedule = await openSchedule({ coldStart, lens: () => ({ durationMs: 60_000 }) })
    const { number, head } = await schedule.open()
    await schedule.until('attempt 1 works', () => schedule.review(head).state === 'leased')
    await schedule.pass(1_000)
    const ending = schedule.pauseAt({ room: 'command', before: request })
    await schedule.act((github) => github.closePullRequest(REPOSITORY, number))
    await ending.reached()
    await schedule.sweep()
    expect(schedule.run(head)).toMatchObject({ state: 'ended', outcome: 'closed', attempt: 1 })

    await schedule.pass(1_000)
    await schedule.act((github) => github.reopenPullRequest(REPOSITORY, number))
    await schedule.until('attempt 2 works', () => schedule.review(head).state === 'leased')
    const before = { run: schedule.run(head), review: schedule.review(head), slots: slots() }
    expect(before.review).toMatchObject({ attempt: 2 })
    ending.resume()
    await schedule.pass(5_000)

    expect({ run: schedule.run(head), review: schedule.review(head), slots: slots() }).toEqual(before)
    expect(schedule.world.machine.executions().map(({ status }) => status)).toEqual(['ABORTED', 'RUNNING'])
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
  })
})

test('LE6: a cancelled run ends as cancelled, also if its pull request was closed and reopened before the end', async () => {
  schedule = await openSchedule({ coldStart, lens: () => ({ durationMs: 60_000 }) })
  const { number, head } = await schedule.open()
  await schedule.until('it works', () => schedule.review(head).state === 'leased')
  await schedule.pass(1_000)
  const closing = schedule.pauseAt({ room: 'command', before: transacts(/^PR#.* SHOWN$/) })
  await schedule.act((github) => github.closePullRequest(REPOSITORY, number))
  await closing.reached()
  await schedule.pass(1_000)
  await schedule.act((github) => github.reopenPullRequest(REPOSITORY, number))
  await schedule.until('the reopening was taken', () => schedule.run(head).askedAgain !== undefined)
  const cancelling = schedule.pauseAt({ room: 'api', before: writes('UpdateItem', /^RUN#.* RUN$/, 'ended') })
  schedule.askLater('POST /runs/{runId}/cancel', { runId: String(schedule.run(head).runId) })
  await cancelling.reached()
  // The closing raises its resources after the cancelling has raised its own.
  closing.resume()
  await schedule.pass(5_000)
  cancelling.resume()
  await schedule.rest()

  const { runs = [] } = schedule.world.github.pullRequest(REPOSITORY, number).checkRuns.at(-1) ?? {}
  expect(schedule.run(head)).toMatchObject({ outcome: 'cancelled', attempt: 1, reason: { code: 'cancelled' } })
  expect(runs).toMatchObject([{ conclusion: 'cancelled', title: 'Not reviewed: cancelled' }])
})

function slots(): unknown {
  return schedule.world.table.item({ pk: 'FLEET#main', sk: 'FLEET' })?.slots
}
