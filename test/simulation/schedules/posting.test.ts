/** IL2, IL5, IL10 and IL14: calls to GitHub that land late, and repeated calls of Conclude. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { bundleRooms, type ColdStart } from '../kernel/bundle.ts'
import type { LensBehaviourOf } from '../simulated-lens.ts'
import { calls, github } from './requests.ts'
import { openSchedule, REPOSITORY, type Schedule } from './schedule.ts'

let coldStart: ColdStart
let schedule: Schedule

beforeAll(async () => {
  coldStart = await bundleRooms()
})
afterEach(() => schedule.close())

/** ms: a dead poster's batch is hidden for six times its function's timeout, and a sweep comes each minute. */
const NEXT_POSTER_MS = 15 * 60_000

const reviews = (number: number) =>
  schedule.world.github.pullRequest(REPOSITORY, number).reviews.map(({ commitId, pending }) => ({ commitId, pending }))
/** The files of each review's inline comments. */
const commentedBy = (number: number) =>
  schedule.world.github.pullRequest(REPOSITORY, number).reviews.map(({ comments }) => comments.map(({ path }) => path))
const thread = () => schedule.world.table.items('PR#', 'THREAD')[0]
const messageOf = (head: string) => {
  const { runId } = schedule.run(head)
  return schedule.world.table.items('PR#', `MESSAGE#${runId}`)[0] ?? {}
}
const isReviewed = (head: string) => schedule.run(head).outcome === 'reviewed'

describe('IL2: a newer head claims while the older head’s review is about to be submitted', () => {
  let number: number
  let first: string
  let second: string
  let poster: ReturnType<Schedule['pauseAt']>

  async function aboutToSubmit(): Promise<void> {
    schedule = await openSchedule({ coldStart })
    poster = schedule.pauseAt({ room: 'post', before: github.submitsReview })
    const opened = await schedule.open()
    await poster.reached()
    number = opened.number
    first = opened.head
    second = await schedule.push(number)
    await schedule.until('the message is withdrawn', () => messageOf(first).state === 'withdrawing')
  }

  test('the submitted review is said and counts as a round', async () => {
    await aboutToSubmit()
    poster.resume()
    await schedule.rest()

    expect(reviews(number)).toEqual([
      { commitId: first, pending: false },
      { commitId: second, pending: false },
    ])
    expect(messageOf(first)).toMatchObject({ state: 'said', round: 1 })
    expect(thread()).toMatchObject({ round: 2 })
    expect(schedule.run(first)).toMatchObject({ outcome: 'superseded' })
  })

  test('a review submitted after its poster’s death is said and counts as a round', async () => {
    await aboutToSubmit()
    poster.kill()
    poster.land()
    await schedule.rest()

    expect(reviews(number).map(({ pending }) => pending)).toEqual([false, false])
    expect(messageOf(first)).toMatchObject({ state: 'said', round: 1 })
    expect(thread()).toMatchObject({ round: 2 })
  })

  test('a review deleted before its submission is withdrawn and counts for nothing', async () => {
    await aboutToSubmit()
    poster.kill()
    schedule.letSweep()
    await schedule.until('it is withdrawn', () => messageOf(first).state === 'withdrawn', NEXT_POSTER_MS)
    poster.land()
    await schedule.rest()

    expect(reviews(number)).toEqual([{ commitId: second, pending: false }])
    expect(thread()).toMatchObject({ round: 1 })
  })

  test('the next review says the findings of a withdrawn review, once', async () => {
    await aboutToSubmit()
    poster.kill()
    await schedule.rest()
    expect(commentedBy(number)).toEqual([['a.ts', 'b.ts']])

    const third = await schedule.push(number, 'c.ts')
    await schedule.until('the third is reviewed', () => isReviewed(third))
    await schedule.rest()
    expect(commentedBy(number)).toEqual([['a.ts', 'b.ts'], ['c.ts']])
  })

  test('findings that the next review has said are not said again when the older head is pushed once more', async () => {
    await aboutToSubmit()
    poster.kill()
    schedule.letSweep()
    await schedule.until('the second is reviewed', () => isReviewed(second), NEXT_POSTER_MS)
    await schedule.pass(1_000)
    await schedule.act((github) => github.pushHead(REPOSITORY, number, first))
    await schedule.until('the first is reviewed', () => isReviewed(first))
    await schedule.rest()
    expect(reviews(number).map(({ commitId }) => commitId)).toEqual([second, first])
    expect(commentedBy(number)).toEqual([['a.ts', 'b.ts'], []])
  })

  test('the next review doesn’t repeat the findings of the submitted review', async () => {
    await aboutToSubmit()
    poster.resume()
    await schedule.rest()
    expect(commentedBy(number)).toEqual([['a.ts'], ['b.ts']])
  })
})

describe('IL2, I7: a review that lands after the next plan uses a round of its own', () => {
  /** The default ceiling of rounds. */
  const CEILING = 3
  const shown = (number: number) => reviews(number).map(({ commitId }) => commitId)

  test('the first review of a series: no more reviews are shown than the ceiling', async () => {
    schedule = await openSchedule({ coldStart })
    const poster = schedule.pauseAt({ room: 'post', before: github.submitsReview })
    const { number, head: first } = await schedule.open()
    await poster.reached()
    const heads = [first, await schedule.push(number)]
    await schedule.until('the message is withdrawn', () => messageOf(first).state === 'withdrawing')
    poster.resume()
    for (let pushes = 0; pushes < CEILING; pushes += 1) {
      await schedule.until('the last head is reviewed', () => isReviewed(heads.at(-1) ?? ''))
      heads.push(await schedule.push(number))
    }
    await schedule.rest()
    expect(shown(number)).toEqual(heads.slice(0, CEILING))
    expect(thread()).toMatchObject({ series: 1, round: CEILING })
  })

  test('the last review but one: a review on its way exceeds the ceiling by one round, and no round follows', async () => {
    schedule = await openSchedule({ coldStart })
    const { number, head: first } = await schedule.open()
    await schedule.until('the first is reviewed', () => isReviewed(first))
    const second = await schedule.push(number)
    await schedule.until('the second is reviewed', () => isReviewed(second))
    const poster = schedule.pauseAt({ room: 'post', before: github.submitsReview })
    const third = await schedule.push(number)
    await poster.reached()
    const fourth = await schedule.push(number)
    await schedule.until('the message is withdrawn', () => messageOf(third).state === 'withdrawing')
    await schedule.until('the fourth is planned', () => schedule.run(fourth).plan !== undefined)
    poster.resume()
    await schedule.until('the fourth is reviewed', () => isReviewed(fourth))
    await schedule.push(number)
    await schedule.rest()
    expect(shown(number)).toEqual([first, second, third, fourth])
    expect(thread()).toMatchObject({ series: 1, round: CEILING + 1 })
  })
})

describe('PL8: a read of the pull request lags while the review of its newest head is posted', () => {
  test('a stale read of the earlier, reviewed head ends nothing: the newest head’s review is shown', async () => {
    schedule = await openSchedule({ coldStart })
    const { number, head: first } = await schedule.open()
    await schedule.until('the first is reviewed', () => isReviewed(first))
    const second = await schedule.push(number)
    await schedule.until('it is owed', () => messageOf(second).state === 'owed')
    const pull = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
    const lag = await schedule.act((atGitHub) => atGitHub.lag({ route: pull, lagMs: 30_000 }))
    await schedule.pass(5_000)
    expect(lag.struck).toBeGreaterThan(0)
    expect(messageOf(second)).toMatchObject({ state: 'owed', errors: 0 })
    lag.end()
    await schedule.rest()

    expect(schedule.run(second)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
    expect(reviews(number).map(({ commitId }) => commitId)).toEqual([first, second])
  })
})

describe('IL5: a change of an earlier generation that lands late is corrected', () => {
  test('in the summary', async () => {
    schedule = await openSchedule({ coldStart })
    const { number, head: first } = await schedule.open()
    await schedule.until('the first is reviewed', () => isReviewed(first))
    const poster = schedule.pauseAt({ room: 'post', before: github.changesComment })
    await schedule.push(number)
    await poster.reached()
    poster.kill()
    schedule.letSweep()
    const third = await schedule.push(number)
    const summary = () => schedule.world.github.pullRequest(REPOSITORY, number).issueComments[0]?.body ?? ''
    await schedule.until('the third is shown', () => isReviewed(third) && summary().includes(third), NEXT_POSTER_MS)

    poster.land()
    await schedule.until('the second has landed', () => !summary().includes(third))
    await schedule.rest()
    expect(summary()).toContain(third)
  })

  test('in a check run: a completed check run doesn’t stay reopened', async () => {
    let calls = 0
    const lens: LensBehaviourOf = () => {
      calls += 1
      return { durationMs: 1_000, ...(calls === 1 ? { failure: new Error('It broke.') } : {}) }
    }
    schedule = await openSchedule({ coldStart, lens })
    const { number, head } = await schedule.open()
    await schedule.until('attempt 1 is shown', () => isReviewed(head))
    const poster = schedule.pauseAt({ room: 'post', before: github.changesCheckRun })
    await schedule.ask('POST /runs/{runId}/retry', { runId: String(schedule.run(head).runId) })
    await poster.reached()
    poster.kill()
    schedule.letSweep()
    await schedule.until('attempt 2 is shown', () => isReviewed(head), NEXT_POSTER_MS)
    const checkRun = () => schedule.world.github.pullRequest(REPOSITORY, number).checkRuns[0]?.runs[0]
    expect(checkRun()).toMatchObject({ status: 'completed' })

    poster.land()
    await schedule.until('the earlier one has landed', () => checkRun()?.status === 'in_progress')
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ attempt: 2 })
    expect(checkRun()).toMatchObject({ status: 'completed', conclusion: 'success' })
  })
})

describe('IL10: a repeated Conclude with another token is answered, if the first Conclude died after its transaction', () => {
  /** Within the machine's first retry of a crash, 5 s. */
  const AT_ONCE_MS = 6_000
  const isDone = () => schedule.world.machine.executions().every(({ status }) => status === 'SUCCEEDED')

  test('after Post has shown everything', async () => {
    schedule = await openSchedule({ coldStart })
    const conclude = schedule.pauseAt({ room: 'conclude', at: 'conclude.nudged' })
    const { head } = await schedule.open()
    await conclude.reached()
    conclude.kill()
    await schedule.until('everything is shown', () => isReviewed(head), 2_000)
    await schedule.until('the execution has ended', isDone, AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ attempt: 1 })
  })

  test.each([
    ['before the check for remaining work', { room: 'post', at: 'post.resources_shown' }],
    ['before the answer to the first token', { room: 'post', before: calls('SendTaskSuccess') }],
  ] as const)('while Post, after its last resource, dies %s', async (_when, where) => {
    schedule = await openSchedule({ coldStart })
    const conclude = schedule.pauseAt({ room: 'conclude', at: 'conclude.nudged' })
    const { head } = await schedule.open()
    await conclude.reached()
    const post = schedule.pauseAt(where)
    await post.reached()
    conclude.kill()
    post.kill()
    await schedule.until('the execution has ended', isDone, AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
  })

  test('while Post, after its last resource, is about to answer the first token and to end the run', async () => {
    schedule = await openSchedule({ coldStart })
    const conclude = schedule.pauseAt({ room: 'conclude', at: 'conclude.nudged' })
    const { head } = await schedule.open()
    await conclude.reached()
    const post = schedule.pauseAt({ room: 'post', before: calls('SendTaskSuccess') })
    await post.reached()
    const again = schedule.pauseAt({ room: 'conclude', at: 'conclude.nudged' })
    conclude.kill()
    await again.reached()
    post.resume()
    await schedule.pass(1_000)
    again.resume()
    await schedule.until('the execution has ended', isDone, AT_ONCE_MS)
    await schedule.rest()
    expect(schedule.run(head)).toMatchObject({ outcome: 'reviewed', attempt: 1 })
  })
})

describe('IL14: a call that lands late leaves no pending review behind, and the review is said once', () => {
  test('a creation that timed out lands after the review was said', async () => {
    schedule = await openSchedule({ coldStart })
    const creation = schedule.hold('post', github.createsReview)
    const { number, head } = await schedule.open()
    await creation.reached()
    await schedule.pass(20_000)
    await schedule.sweep()
    await schedule.until('it is said', () => messageOf(head).state === 'said', 5_000)
    creation.land()
    await schedule.until('a pending one stands there', () => reviews(number).some(({ pending }) => pending))
    await schedule.rest()
    expect(reviews(number)).toEqual([{ commitId: head, pending: false }])
  })

  test('a dead poster’s deletion lands before the next poster submits the adopted pending review', async () => {
    schedule = await openSchedule({ coldStart })
    const created = schedule.pauseAt({ room: 'post', after: github.createsReview })
    const { number, head } = await schedule.open()
    await created.reached()
    await schedule.ask('PUT /halts/{scope+}', { scope: 'fleet' }, { why: 'An incident' })
    const stale = schedule.pauseAt({ room: 'post', before: github.deletesReview })
    created.resume()
    await stale.reached()
    stale.kill()
    await schedule.ask('DELETE /halts/{scope+}', { scope: 'fleet' })
    const submission = schedule.pauseAt({ room: 'post', before: github.submitsReview })
    schedule.letSweep()
    await submission.reached(NEXT_POSTER_MS)
    expect(reviews(number)).toEqual([{ commitId: head, pending: true }])

    stale.land()
    await schedule.until('it is deleted', () => reviews(number).length === 0)
    submission.resume()
    await schedule.rest()
    expect(reviews(number)).toEqual([{ commitId: head, pending: false }])
    expect(messageOf(head)).toMatchObject({ state: 'said' })
  })

  test('the older head’s creation lands before the newer head’s, and GitHub allows only one pending review', async () => {
    schedule = await openSchedule({ coldStart })
    const older = schedule.pauseAt({ room: 'post', before: github.createsReview })
    const { number } = await schedule.open()
    await older.reached()
    older.kill()
    const second = await schedule.push(number)
    const newer = schedule.pauseAt({ room: 'post', before: github.createsReview })
    schedule.letSweep()
    await newer.reached(NEXT_POSTER_MS)
    older.land()
    await schedule.until('the older one’s stands there', () => reviews(number).length === 1)
    newer.resume()
    await schedule.rest()
    expect(reviews(number)).toEqual([{ commitId: second, pending: false }])
  })
})
