/** L2, AW77: GitHub is limited or out of order for a while; afterwards all requested work is done. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { github } from './requests.ts'
import { MAINTAINER, openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const MINUTE_MS = 60_000
/** The hourly limit; ends in forty minutes. */
const LIMIT = {
  status: 403,
  headers: { 'content-type': 'application/json', 'retry-after': '2400' },
  body: '{"message":"API rate limit exceeded for installation"}',
}
const OUT_OF_ORDER = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Unicorn!</h1>' }

const isReviewed = (head: string) => schedule.run(head).outcome === 'reviewed'

describe('while a run is to be planned', () => {
  test('a limit of forty minutes costs one call, and the first attempt is reviewed', async () => {
    schedule = await openSchedule({ coldStart })
    const limit = schedule.refuse(github.any, LIMIT)
    const { head } = await schedule.open()
    schedule.letSweep()
    await schedule.pass(39 * MINUTE_MS)
    expect(limit.met).toBe(1)
    limit.end()
    await schedule.until('it is reviewed', () => isReviewed(head))
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ attempt: 1 })
  })

  test('an outage of half an hour costs no attempt: the first attempt is reviewed', async () => {
    schedule = await openSchedule({ coldStart })
    const outage = schedule.refuse(github.any, OUT_OF_ORDER)
    const { head } = await schedule.open()
    schedule.letSweep()
    await schedule.pass(30 * MINUTE_MS)
    outage.end()
    await schedule.until('it is reviewed', () => isReviewed(head))
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ attempt: 1 })
  })

  test('an outage of more than two hours fails the run with GitHub as the reason', async () => {
    schedule = await openSchedule({ coldStart })
    const outage = schedule.refuse(github.any, OUT_OF_ORDER)
    const { head } = await schedule.open()
    schedule.letSweep()
    await schedule.pass(119 * MINUTE_MS)
    expect(schedule.run(head)).not.toHaveProperty('outcome')
    await schedule.until('it has failed', () => schedule.run(head).outcome === 'failed', 20 * MINUTE_MS)
    expect(schedule.run(head)).toMatchObject({
      reason: { code: 'github_unreachable', sentence: expect.stringContaining('It has lasted for 2 hours.') },
    })
    outage.end()
    await schedule.rest()
  })
})

test('a command during a limit of forty minutes is obeyed and answered, without a dead letter', async () => {
  schedule = await openSchedule({ coldStart })
  const { number, head } = await schedule.open()
  await schedule.until('it is reviewed', () => isReviewed(head))
  await schedule.pass(1_000)
  const limit = schedule.refuse(github.any, LIMIT)
  await schedule.act((at) => at.comment(REPOSITORY, number, MAINTAINER, '/muster status'))
  schedule.letSweep()
  await schedule.pass(39 * MINUTE_MS)
  limit.end()
  await schedule.rest()
  const { issueComments } = schedule.world.github.pullRequest(REPOSITORY, number)
  expect(issueComments.map(({ author }) => author.login)).toEqual(['muster[bot]', MAINTAINER, 'muster[bot]'])
})
