/** Many webhooks at once: each gets its own answer, and none is lost, doubled or mixed up with another. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Muster, patientTests, startMuster, type TestPullRequest, type TestRepository } from './harness.ts'

patientTests()

/** Of two installations, each within the content limit of a minute (AW76). */
const RUNS = 32
const DUPLICATES = 10
const FORGED = 3
const IRRELEVANT = 5
/**
 * No server listens there: GitHub's own attempts fail, and the test delivers their bytes itself, all at the same
 * instant.
 */
const NOWHERE = 'http://127.0.0.1:9/'

let muster: Muster
beforeAll(async () => {
  muster = await startMuster()
})
afterAll(() => muster?.close())

it('50 at once: 32 runs and 32 reviews, 10 replays with the same run id, 3 refusals, 5 ignored by name', async () => {
  const files = { '.github/muster.yml': 'lenses: { correctness: off }\n' }
  const repositories = [await muster.repository('burst', files), await muster.repository('burst', files, 'globex')]
  muster.github.setWebhookUrl(NOWHERE)
  const pullRequests: TestPullRequest[] = []
  for (let number = 1; number <= RUNS; number += 1) {
    const repository = repositories[number % repositories.length] as TestRepository
    pullRequests.push(await muster.open(repository, { [`src/file-${number}.ts`]: `export const n = ${number}\n` }))
  }
  const opened = await muster.until('32 deliveries that reached nobody', () => {
    const deliveries = muster.github.deliveries()
    return deliveries.length === RUNS && deliveries.every(({ result }) => result !== null) && deliveries
  })

  const [first] = opened
  const body = first?.payload ?? ''
  const send = {
    opened: opened.map(({ payload, guid }) => muster.deliver(payload, { id: guid })),
    duplicates: opened.slice(0, DUPLICATES).map(({ payload, guid }) => muster.deliver(payload, { id: guid })),
    forged: Array.from({ length: FORGED }, () => muster.deliver(body, { signature: `sha256=${'0'.repeat(64)}` })),
    irrelevant: ['issues', 'push', 'star', 'fork', 'milestone'].map((event) => muster.deliver(body, { event })),
  }
  expect(Object.values(send).flat()).toHaveLength(50)
  const [openedAnswers, duplicates, forged, irrelevant] = await Promise.all(
    [send.opened, send.duplicates, send.forged, send.irrelevant].map((sent) => Promise.all(sent)),
  )

  const runs = openedAnswers?.map((answer) => String(answer.body.run)) ?? []
  expect(new Set(runs).size).toBe(RUNS)
  expect(new Set(openedAnswers?.map(({ status }) => status))).toEqual(new Set([202]))
  expect(duplicates?.map((answer) => answer.body.run)).toEqual(runs.slice(0, DUPLICATES))
  // Of two at the same instant either may come first; one made the run and the other is its replay.
  for (let index = 0; index < DUPLICATES; index += 1) {
    const pair = [openedAnswers?.[index]?.body.status, duplicates?.[index]?.body.status]
    expect(pair.sort()).toEqual(['created', 'replayed'])
  }
  expect(forged?.map(({ status }) => status)).toEqual(Array(FORGED).fill(401))
  expect(irrelevant).toHaveLength(IRRELEVANT)
  expect(irrelevant?.map((answer) => [answer.status, answer.body.status, answer.body.reason])).toEqual(
    ['issues', 'push', 'star', 'fork', 'milestone'].map((event) => [202, 'ignored', `event_not_handled:${event}`]),
  )

  for (const run of runs)
    expect(await muster.runEnded(run)).toMatchObject({ attempt: 1, outcome: 'reviewed', verdict: 'pass' })
  expect(await muster.aws.executions()).toHaveLength(RUNS)
  for (const pullRequest of pullRequests) {
    const { reviews, issueComments, checkRuns, labels } = muster.shown(pullRequest)
    expect(reviews.map(({ commitId, pending }) => [commitId, pending])).toEqual([[pullRequest.head, false]])
    expect(reviews[0]?.body).toContain(pullRequest.head.slice(0, 7))
    expect(issueComments).toHaveLength(1)
    expect(checkRuns.flatMap(({ runs: all }) => all.map(({ conclusion }) => conclusion))).toEqual(['success'])
    expect(labels).toEqual(['muster: passed'])
  }
  // Every slot was released, no ticket waits, and no review was given up.
  const fleet = await muster.until('an empty fleet', async () => {
    const item = await muster.aws.item('FLEET#main', 'FLEET')
    return Object.keys((item?.slots as object | undefined) ?? {}).length === 0 && item
  })
  expect(fleet).toBeDefined()
  for (const queue of ['inbox-dead-letters.fifo', 'outbox-dead-letters.fifo']) {
    expect(await muster.aws.messagesIn(queue)).toBe(0)
  }
})

it('AW91: after the burst no log line holds a secret', () => {
  const log = muster.lines.map(({ text }) => text).join('\n')
  expect(log.length).toBeGreaterThan(0)
  for (const canary of [muster.webhookSecret, 'PRIVATE KEY', 'ghs_', 'sha256=']) expect(log).not.toContain(canary)
})
