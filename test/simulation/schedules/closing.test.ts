/**
 * D3: the news of a closing comes late, after the pull request was opened again: no review asked for since is ended.
 */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { reads } from './requests.ts'
import { MAINTAINER, openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

const readsClosing = reads(/ EVENT#closed/)

test('a late closing doesn’t end the run of a redelivered opening, after a reopening in the same second', async () => {
  schedule = await openSchedule({ coldStart })
  const { number, head } = await schedule.lose(() => schedule.open())
  await schedule.pass(2_000)
  const closing = schedule.pauseAt({ room: 'command', before: readsClosing })
  await schedule.act(async (github) => {
    await github.closePullRequest(REPOSITORY, number)
    await github.reopenPullRequest(REPOSITORY, number)
  })
  await schedule.until('its reopening was reviewed', () => schedule.run(head).outcome === 'reviewed')
  await closing.reached()
  const [opened] = schedule.world.answers
  if (!opened) throw new Error('No webhook was answered.')
  expect(await schedule.deliver(opened.webhook)).toMatchObject({ status: 202, body: /raised/ })
  await schedule.until('its opening has claimed', () => schedule.run(head).state === 'running')
  closing.resume()
  await schedule.rest()

  expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
})

test.each([
  ['a comment before the closing', 'a later', 1_000],
  ['a comment before the closing', 'the same', 0],
  ['the API', 'a later', 1_000],
  ['the API', 'the same', 0],
] as const)(
  'a late closing doesn’t end a run that %s asked for, after a reopening in %s second whose webhook is lost',
  async (by, _when, laterMs) => {
    let failure: Error | undefined = new Error('It broke.')
    schedule = await openSchedule({ coldStart, lens: () => ({ durationMs: 20_000, ...(failure ? { failure } : {}) }) })
    const { number, head } = await schedule.open()
    await schedule.until('it has been read', () => schedule.run(head).state === 'ended')
    failure = undefined
    const asked = schedule.pauseAt({ room: 'command', before: reads(/ EVENT#comment/) })
    if (by !== 'the API') {
      await schedule.act((github) => github.comment(REPOSITORY, number, MAINTAINER, '/muster review'))
      await asked.reached()
    }
    const closing = schedule.pauseAt({ room: 'command', before: readsClosing })
    await schedule.lose(async () => {
      await schedule.act((github) => github.closePullRequest(REPOSITORY, number))
      await schedule.pass(laterMs)
      await schedule.act((github) => github.reopenPullRequest(REPOSITORY, number))
    }, /^RUN#/)
    if (by === 'the API') await schedule.ask('POST /runs/{runId}/retry', { runId: String(schedule.run(head).runId) })
    else asked.resume()
    await schedule.until('it works', () => schedule.review(head).state === 'leased')
    await closing.reached()
    closing.resume()
    await schedule.rest()

    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', concludedWhole: true })
  },
)
