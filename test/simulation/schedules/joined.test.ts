/**
 * IL1, D3: a delivery joins a run while a room ends the run for an earlier state of the pull request: the delivery is
 * not lost.
 */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RoomName } from '../../../infra/rooms.ts'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import { github } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
beforeEach(async () => {
  schedule = await openSchedule({ coldStart })
})
afterEach(() => schedule.close())

interface Opened {
  readonly number: number
  readonly head: string
}
type Change = (pull: Opened) => Promise<unknown>

const closes: Change = ({ number }) => schedule.act((github) => github.closePullRequest(REPOSITORY, number))
const reopens: Change = ({ number }) => schedule.act((github) => github.reopenPullRequest(REPOSITORY, number))
const pushes: Change = ({ number }) => schedule.push(number)
const pushesBack: Change = ({ number, head }) => schedule.act((github) => github.pushHead(REPOSITORY, number, head))

/** Changes the pull request in a later second, and waits until the webhook has joined the run of the head. */
async function joined(change: Change, pull: Opened): Promise<void> {
  const { eventAt } = schedule.run(pull.head)
  await schedule.pass(1_000)
  await change(pull)
  await schedule.until('it has joined', () => Number(schedule.run(pull.head).eventAt) > Number(eventAt))
}

test.each<[RoomName, string, string, Change, Change]>([
  ['plan', 'closed', 'reopened', closes, reopens],
  ['post', 'closed', 'reopened', closes, reopens],
  ['plan', 'at another head', 'pushed back', pushes, pushesBack],
  ['post', 'at another head', 'pushed back', pushes, pushesBack],
])(
  'a run is reviewed although %s saw its pull request %s and ends the run after the pull request was %s',
  async (room, _seen, _again, change, back) => {
    const asks = schedule.pauseAt({ room, before: github.readsPullRequest })
    const pull = await schedule.open()
    await asks.reached()
    await schedule.lose(() => change(pull))
    const knows = schedule.pauseAt({ room, after: github.readsPullRequest })
    asks.resume()
    await knows.reached()
    await joined(back, pull)
    knows.resume()
    await schedule.rest()

    expect(schedule.run(pull.head)).toMatchObject({ outcome: 'reviewed' })
  },
)

test('a head that was pushed back to is reviewed after the newer head’s late claim is cancelled', async () => {
  const pull = await schedule.open()
  await schedule.until('the older one works', () => schedule.review(pull.head).state === 'leased')
  const knows = schedule.pauseAt({ room: 'plan', after: github.readsPullRequest })
  const newer = await schedule.push(pull.number)
  await knows.reached()
  await joined(pushesBack, pull)
  knows.resume()
  await schedule.until('the newer one has claimed', () => schedule.run(newer).state === 'running')
  await schedule.ask('POST /runs/{runId}/cancel', { runId: String(schedule.run(newer).runId) })
  await schedule.rest()

  expect(schedule.run(newer)).toMatchObject({ outcome: 'cancelled' })
  expect(schedule.run(pull.head)).toMatchObject({ outcome: 'reviewed', attempt: 2 })
})
