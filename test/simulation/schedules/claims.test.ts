/** IL1, IL12 and IL15: claims of a pull request, halts that end meanwhile, repeated deliveries. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { transacts, writes } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const claims = transacts(/^PR#.* THREAD$/)
const PULL_REQUEST = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
const reviewedHeads = (number: number) =>
  schedule.world.github.pullRequest(REPOSITORY, number).reviews.map(({ commitId, pending }) => [commitId, pending])

describe('IL1: an older head that claims after a newer head is superseded', () => {
  let number: number
  let first: string
  let second: string
  let older: ReturnType<Schedule['pauseAt']>
  let before: number

  /** The older run is about to claim; the newer run has claimed. */
  async function bothClaim(push: () => Promise<string>): Promise<void> {
    schedule = await openSchedule({ coldStart })
    older = schedule.pauseAt({ room: 'plan', before: claims })
    const opened = await schedule.open()
    number = opened.number
    first = opened.head
    await older.reached()
    await schedule.pass(50)
    before = schedule.world.timeline.now
    await schedule.pass(200)
    second = await push()
    await schedule.until('the newer one has claimed', () => schedule.run(second).state === 'running')
  }

  /** GitHub answers with the state before the push. */
  const showOlder = () =>
    schedule.act((github) => github.lag({ route: PULL_REQUEST, lagMs: schedule.world.timeline.now - before }))

  test.each([
    ['if GitHub shows the newer head', false],
    ['if GitHub still shows the older head', true],
  ])('%s', async (_shown, lags) => {
    await bothClaim(() => schedule.push(number))
    if (lags) await showOlder()
    older.resume()
    await schedule.until('the older one has ended', () => schedule.run(first).state === 'ended')
    expect(schedule.run(second)).toMatchObject({ state: 'running' })
    await schedule.act((github) => github.heal())
    await schedule.rest()

    expect(schedule.run(first)).toMatchObject({ outcome: 'superseded', attempt: 1 })
    expect(schedule.run(second)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(reviewedHeads(number)).toEqual([[second, false]])
  })

  test('also if both heads are of one second, without an order at GitHub, and GitHub still shows the older head', async () => {
    await bothClaim(() => schedule.act((github) => github.push(REPOSITORY, number, { 'b.ts': 'two\n' })))
    expect(schedule.run(second).eventAt).toBe(schedule.run(first).eventAt)
    await showOlder()
    older.resume()
    await schedule.until('the older one has taken its place', () => schedule.run(second).state === 'ended')
    await schedule.act((github) => github.heal())
    await schedule.rest()

    expect(schedule.run(first)).toMatchObject({ outcome: 'superseded' })
    expect(schedule.run(second)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
    expect(reviewedHeads(number)).toEqual([[second, false]])
  })
})

test('IL1: a push back to a superseded head is reviewed although its webhook is lost', async () => {
  schedule = await openSchedule({ coldStart })
  const { number, head: first } = await schedule.open()
  await schedule.until('the first one works', () => schedule.review(first).state === 'leased')
  const second = await schedule.push(number)
  await schedule.until('the second one works', () => schedule.review(second).state === 'leased')
  await schedule.until('the first one has ended', () => schedule.run(first).outcome === 'superseded')
  await schedule.pass(1_000)
  const webhook = schedule.pauseAt({ room: 'webhook', before: writes('PutItem', /^RUN#.* RUN$/) })
  await schedule.act((github) => github.pushHead(REPOSITORY, number, first))
  await webhook.reached()
  webhook.kill()
  await schedule.rest()

  expect(schedule.run(second)).toMatchObject({ outcome: 'superseded', attempt: 1 })
  expect(schedule.run(first)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
  expect(reviewedHeads(number)).toEqual([[first, false]])
})

describe('AW73: a pull request still unknown to GitHub’s API', () => {
  test('is waited for over seconds, and everything is shown', async () => {
    schedule = await openSchedule({ coldStart })
    await schedule.act((github) => github.lag({ route: '*', lagMs: 12_000 }))
    const { number, head } = await schedule.open()
    schedule.letSweep()
    await schedule.until('it is reviewed', () => schedule.run(head).outcome === 'reviewed')
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ attempt: 1 })
    expect(reviewedHeads(number)).toEqual([[head, false]])
    const { checkRuns, labels } = schedule.world.github.pullRequest(REPOSITORY, number)
    expect(checkRuns.flatMap(({ runs }) => runs.map(({ status }) => status))).toEqual(['completed'])
    expect(labels).toHaveLength(1)
  })

  test('is shown in progress later, if a late replica hides the pull request after its plan', async () => {
    schedule = await openSchedule({ coldStart })
    const plan = schedule.pauseAt({ room: 'plan', at: 'plan.written' })
    const { number, head } = await schedule.open()
    await plan.reached()
    const lag = await schedule.act((github) => github.lag({ route: '*', lagMs: 15_000 }))
    plan.resume()
    const shown = () => schedule.world.table.items('PR#', 'SHOWN')[0] ?? {}
    await schedule.until('its label was tried', () => shown().shown_label_main !== undefined)
    expect(shown().shown_label_main).toMatchObject({ generation: 0, errors: 0 })
    lag.end()
    await schedule.rest()
    expect(reviewedHeads(number)).toEqual([[head, false]])
  })

  test('fails its run with the reason, if GitHub never knows the pull request', async () => {
    schedule = await openSchedule({ coldStart })
    await schedule.act((github) => github.lag({ route: PULL_REQUEST, lagMs: 500_000 }))
    const { head } = await schedule.open()
    await schedule.until('the run has ended', () => schedule.run(head).state === 'ended')
    expect(schedule.run(head)).toMatchObject({ outcome: 'failed', reason: { code: 'github_not_found' } })
  })
})

describe('IL12: a run goes on after the lift of the halt that refused its claim', () => {
  test.each([
    ['before the run is written as held', { room: 'plan', after: claims }],
    [
      'after the run is written as held, before a second read of the halt',
      { room: 'plan', after: writes('UpdateItem', /^RUN#.* RUN$/, 'held') },
    ],
  ] as const)('%s', async (_when, where) => {
    schedule = await openSchedule({ coldStart })
    await schedule.ask('PUT /halts/{scope+}', { scope: 'fleet' }, { why: 'An incident' })
    const plan = schedule.pauseAt(where)
    const { head } = await schedule.open()
    await plan.reached()
    await schedule.ask('DELETE /halts/{scope+}', { scope: 'fleet' })
    await schedule.sweep()

    plan.resume()
    await schedule.until('the run is held', () => schedule.run(head).state === 'held')
    await schedule.pass(1_000)
    await schedule.sweep()
    expect(schedule.run(head)).toMatchObject({ state: 'accepted', attempt: 2 })
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed' })
  })
})

test('IL15: the delivery that joined a run is a replay, also after the run has failed', async () => {
  schedule = await openSchedule({ coldStart })
  const { head } = await schedule.open()
  await schedule.until('the run is running', () => schedule.run(head).state === 'running')
  const [first] = schedule.world.answers
  if (!first) throw new Error('No webhook was answered.')
  expect(await schedule.deliver(first.webhook, 'second')).toMatchObject({ status: 202, body: /joined/ })
  for (let tries = 0; tries < 3; tries += 1) {
    const conclude = schedule.pauseAt({ room: 'conclude', at: 'conclude.documents_stored' })
    await conclude.reached()
    conclude.kill()
  }
  await schedule.pass(60_000)
  await schedule.sweep()
  const failed = schedule.run(head)
  expect(failed).toMatchObject({ state: 'ended', outcome: 'failed', attempt: 1 })

  expect(await schedule.deliver(first.webhook, 'second')).toMatchObject({ status: 202, body: /replayed/ })
  expect(schedule.run(head)).toEqual(failed)
  expect(schedule.world.machine.executions()).toHaveLength(1)
  expect(await schedule.deliver(first.webhook, 'third')).toMatchObject({ status: 202, body: /raised/ })
  await schedule.rest()
  expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
})
