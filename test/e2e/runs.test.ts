/** Runs of a pull request: one for each cause, a single live run, and the fate of the others. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'
import { payloadOf } from './webhooks.ts'
import { route } from './wire.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  muster = await startMuster({ model: true })
})
afterAll(() => muster?.close())

/** A payload of GitHub about this pull request in its current state, with another action. */
const payload = (
  { repository, number, head }: TestPullRequest,
  more: Partial<Parameters<typeof payloadOf>[0]> = {},
) => {
  const sent = muster.github.deliveries().find((one) => one.repository === repository.fullName)
  const { installation } = JSON.parse(sent?.payload ?? '{}') as { installation: { id: number } }
  return payloadOf({ repository, number, head, action: 'synchronize', installationId: installation.id, ...more })
}
const executionsOf = async ({ repository, number }: TestPullRequest) =>
  (await muster.aws.executions()).filter(({ name }) =>
    name?.startsWith(`${repository.owner}-${repository.name}-pr${number}-`),
  )
const reviewsOf = (pullRequest: TestPullRequest) => muster.shown(pullRequest).reviews
const checkRunOf = (pullRequest: TestPullRequest) =>
  muster.shown(pullRequest).checkRuns.find(({ headSha }) => headSha === pullRequest.head)?.runs
/** A review is at work: the model has a prompt with this text. */
const modelAsked = (text: string, calls = 1) =>
  muster.until(`${calls} calls of the model about ${text}`, () => muster.model.callsAbout(text).length >= calls)

describe('a cause', () => {
  it('D1, AW14: the same event twice under one delivery id is reviewed once', async () => {
    const repository = await muster.repository('twice')
    const pullRequest = await muster.open(repository, { 'src/twice.ts': 'export const twice = 1\n' })
    const { deliveryId } = await muster.answered(pullRequest)
    await muster.github.redeliver(deliveryId)
    const { status, body } = await muster.answered(pullRequest)
    expect([status, body.status]).toEqual([202, 'replayed'])
    await muster.ended(pullRequest)
    await muster.github.redeliver(deliveryId)
    expect((await muster.answered(pullRequest)).body).toMatchObject({ status: 'replayed', attempt: 1, state: 'ended' })
    expect(await executionsOf(pullRequest)).toHaveLength(1)
    expect(reviewsOf(pullRequest)).toHaveLength(1)
    expect(muster.shown(pullRequest).issueComments).toHaveLength(1)
  })

  it('D2: the webhook is answered while the review is still at work', async () => {
    const held = muster.model.hold('slow_to_read')
    const pullRequest = await muster.open(await muster.repository('slow'), {
      'src/slow.ts': 'export const slow_to_read = 1\n',
    })
    const { status, body } = await muster.answered(pullRequest)
    expect([status, body.status]).toEqual([202, 'created'])
    await modelAsked('slow_to_read')
    await muster.until('the check run in progress', () => checkRunOf(pullRequest)?.[0]?.status === 'in_progress')
    // One write after the other, the label last.
    await muster.until('the label', () => muster.shown(pullRequest).labels.join() === 'muster: checking')
    held.release()
    await muster.ended(pullRequest)
    expect(checkRunOf(pullRequest)).toMatchObject([{ status: 'completed', conclusion: 'success' }])
    expect(muster.shown(pullRequest).labels).toEqual(['muster: passed'])
  })

  it('AW17, D8, AW16: other events, other deliveries, another App’s installation: the same head is one run', async () => {
    const held = muster.model.hold('same_head')
    const pullRequest = await muster.open(await muster.repository('same'), {
      'src/same.ts': 'export const same_head = 1\n',
    })
    const first = await muster.answered(pullRequest)
    await modelAsked('same_head')
    const answers = await Promise.all(
      ['opened', 'synchronize', 'reopened', 'ready_for_review'].map((action, index) =>
        muster.deliver(payload(pullRequest, { action, ...(index === 0 ? { installationId: 7 } : {}) })),
      ),
    )
    expect(answers.map(({ body }) => [body.status, body.run])).toEqual(answers.map(() => ['joined', first.body.run]))
    held.release()
    const run = await muster.ended(pullRequest)
    expect(run).toMatchObject({ attempt: 1, outcome: 'reviewed', verdict: 'pass' })
    expect(run.deliveries).toHaveLength(5)
    expect(await executionsOf(pullRequest)).toHaveLength(1)
    expect(reviewsOf(pullRequest)).toHaveLength(1)
  })

  it('D5, C8: after a change to draft and back without a push, the same head is not reviewed again', async () => {
    const repository = await muster.repository('draft')
    const pullRequest = await muster.open(repository, { 'src/d.ts': 'export const unready = 1\n' }, { draft: true })
    expect((await muster.answered(pullRequest)).body).toMatchObject({ status: 'ignored' })
    await muster.github.markReady(repository.fullName, pullRequest.number)
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed' })
    await muster.github.setDraft(repository.fullName, pullRequest.number)
    await muster.github.markReady(repository.fullName, pullRequest.number)
    const again = await muster.ended(pullRequest)
    expect(again).toMatchObject({ attempt: 2, outcome: 'reviewed', verdict: 'pass' })
    expect(muster.model.callsAbout('unready')).toHaveLength(1)
    expect(reviewsOf(pullRequest)).toHaveLength(1)
    expect((await muster.thread(pullRequest)).round).toBe(1)
  })

  it('LE1: a head whose base has another configuration is reviewed again; an unchanged head is shown again', async () => {
    const repository = await muster.repository('keyed')
    const pullRequest = await muster.open(repository, { 'src/k.ts': 'export const keyed = 1\n' })
    await muster.ended(pullRequest)
    await muster.deliver(payload(pullRequest))
    const { body } = await muster.answered(pullRequest)
    const shownAgain = await muster.runEnded(String(body.run), 2)
    expect(muster.model.callsAbout('keyed')).toHaveLength(1)

    // The base moves on under the pull request: the same fork point, another configuration.
    const moved = await repository.commit({ '.github/muster.yml': 'lenses: { workflows: off }\n' }, repository.base)
    await muster.github.edit(repository.fullName, pullRequest.number, { base: { ref: 'main', sha: moved } })
    const reviewedAgain = await muster.runEnded(String(body.run), 3)
    expect(reviewedAgain.planKey).not.toBe(shownAgain.planKey)
    expect(muster.model.callsAbout('keyed')).toHaveLength(2)
    expect(reviewsOf(pullRequest)).toHaveLength(2)
    // AW59: each attempt is an execution of its own name.
    expect((await executionsOf(pullRequest)).map(({ name }) => name?.match(/-a(\d)-/)?.[1]).sort()).toEqual([
      '1',
      '2',
      '3',
    ])
  })
})

describe('several heads', () => {
  it('D3, RO1, PR5: of three pushes in a row the last is reviewed; the others end, and a late worker changes nothing', async () => {
    const held = muster.model.hold('overtaken')
    const first = await muster.open(await muster.repository('pushes'), { 'src/p.ts': 'export const overtaken = 1\n' })
    await modelAsked('overtaken')
    const firstRun = String((await muster.answered(first)).body.run)
    const second = await muster.push(first, { 'src/p.ts': 'export const overtaken = 2\n' })
    await modelAsked('overtaken', 2)
    const third = await muster.push(second, { 'src/p.ts': 'export const newest = 3\n' })
    const run = await muster.ended(third)
    expect(run).toMatchObject({ outcome: 'reviewed', head: third.head })
    expect(await muster.runEnded(firstRun)).toMatchObject({
      outcome: 'superseded',
      reason: { code: 'head_superseded' },
    })
    await muster.until('both workers given up', () =>
      muster.model.callsAbout('overtaken').every(({ abandoned }) => abandoned),
    )
    const before = muster.shown(third)
    held.release()

    await muster.until('every check run completed', () =>
      muster.shown(third).checkRuns.every(({ runs }) => runs.every(({ status }) => status === 'completed')),
    )
    const after = muster.shown(third)
    expect(after.checkRuns.map(({ headSha, runs }) => [headSha, runs.map(({ conclusion }) => conclusion)])).toEqual([
      [first.head, ['cancelled']],
      [second.head, ['cancelled']],
      [third.head, ['success']],
    ])
    expect(after.reviews.map(({ commitId, pending }) => [commitId, pending])).toEqual([[third.head, false]])
    expect(after.issueComments).toEqual(before.issueComments)
    expect(after.issueComments[0]?.body).toContain(third.head)
    expect((await muster.thread(third)).round).toBe(1)
  })

  it('PR2: a verdict for a head that is no longer live is not published', async () => {
    const held = muster.model.hold('left_behind')
    const first = await muster.open(await muster.repository('moved'), { 'src/m.ts': 'export const left_behind = 1\n' })
    await modelAsked('left_behind')
    const runId = String((await muster.answered(first)).body.run)
    // GitHub shows the push, and its webhook never comes.
    muster.github.setWebhookUrl('http://127.0.0.1:9/')
    const second = await muster.push(first, { 'src/m.ts': 'export const right_there = 1\n' })
    await muster.until('the failed delivery', () => {
      const newest = muster.github.deliveries().findLast(({ repository }) => repository === second.repository.fullName)
      return newest?.result !== null && newest?.action === 'synchronize' && newest
    })
    muster.github.setWebhookUrl(muster.stack.webhookUrl)
    held.release()
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'superseded' })
    await muster.until('the check run of the old head completed', () => {
      const runs = checkRunOf(first)
      return runs?.length === 1 && runs[0]?.status === 'completed' && runs
    })
    expect(checkRunOf(first)).toMatchObject([{ conclusion: 'cancelled' }])
    expect(reviewsOf(first)).toEqual([])
    expect(muster.shown(first).issueComments).toEqual([])
    expect(muster.shown(first).labels).toEqual(['muster: checking'])

    await muster.deliver(payload(second))
    await muster.until('the review of the new head', () =>
      reviewsOf(second).some(({ commitId }) => commitId === second.head),
    )
    expect(reviewsOf(second).map(({ commitId }) => commitId)).toEqual([second.head])
  })

  it('PR4: a force-push back to a reviewed head shows its verdict again; no review and no post is repeated', async () => {
    const repository = await muster.repository('back')
    const first = await muster.open(repository, { 'src/b.ts': 'export const first_here = 1\n' })
    await muster.ended(first)
    const second = await muster.push(first, { 'src/b.ts': 'export const second_here = 1\n' })
    await muster.ended(second)
    await muster.github.pushHead(repository.fullName, first.number, first.head)
    expect(await muster.ended(first)).toMatchObject({
      head: first.head,
      attempt: 2,
      outcome: 'reviewed',
      verdict: 'pass',
    })
    expect(muster.model.callsAbout('first_here')).toHaveLength(1)
    expect(reviewsOf(first).map(({ commitId }) => commitId)).toEqual([first.head, second.head])
    const { issueComments, labels } = muster.shown(first)
    expect(issueComments).toHaveLength(1)
    expect(issueComments[0]?.body).toContain(first.head)
    expect(labels).toEqual(['muster: passed'])
    expect((await muster.thread(first)).round).toBe(2)
  })

  it('RO2: a run that fails without a verdict counts no round, and the same cause can be placed again', async () => {
    const repository = await muster.repository('failing')
    const message = 'Resource not accessible by integration'
    const fault = muster.wire.refuse(route('GET', /\/failing\/pulls\/1$/), { status: 403, body: { message } })
    const pullRequest = await muster.open(repository, { 'src/f.ts': 'export const fails_first = 1\n' })
    const failed = await muster.ended(pullRequest)
    expect(failed).toMatchObject({ outcome: 'failed', attempt: 1, reason: { code: 'github_refused' } })
    fault.lift()

    await muster.deliver(payload(pullRequest, { action: 'opened' }))
    const run = await muster.runEnded(String(failed.runId), 2)
    expect(run).toMatchObject({ attempt: 2, outcome: 'reviewed' })
    expect((await muster.thread(pullRequest)).round).toBe(1)
    expect(checkRunOf(pullRequest)).toMatchObject([{ status: 'completed', conclusion: 'success' }])
  })

  it('L4: the run of a pull request closed during its review ends, its check run is completed, and nothing is posted', async () => {
    const held = muster.model.hold('closed_early')
    const repository = await muster.repository('closing')
    const pullRequest = await muster.open(repository, { 'src/c.ts': 'export const closed_early = 1\n' })
    const runId = String((await muster.answered(pullRequest)).body.run)
    await modelAsked('closed_early')
    // GitHub's times have seconds: a close in the second of the opening would bring another attempt.
    const second = Math.floor(Date.now() / 1_000)
    await muster.until('the next second', () => Math.floor(Date.now() / 1_000) > second)
    await muster.github.closePullRequest(repository.fullName, pullRequest.number)
    expect(await muster.runEnded(runId)).toMatchObject({ outcome: 'closed', reason: { code: 'pull_request_closed' } })
    held.release()
    await muster.until('the check run completed', () => checkRunOf(pullRequest)?.[0]?.status === 'completed')
    expect(checkRunOf(pullRequest)).toMatchObject([{ conclusion: 'cancelled' }])
    expect(reviewsOf(pullRequest)).toEqual([])
    const executions = await executionsOf(pullRequest)
    expect(executions.map(({ status }) => status)).toEqual(['ABORTED'])
  })
})

describe('several pull requests', () => {
  it('LE10: two pull requests are reviewed at the same time', async () => {
    const held = muster.model.hold('side_by_side')
    const repository = await muster.repository('beside')
    const both = await Promise.all([
      muster.open(repository, { 'src/one.ts': 'export const side_by_side = 1\n' }),
      muster.open(repository, { 'src/two.ts': 'export const side_by_side = 2\n' }),
    ])
    await modelAsked('side_by_side', 2)
    held.release()
    for (const pullRequest of both) expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed' })
  })

  it('LE11, AW56: similar and overlong names never share a run or an execution', async () => {
    const files = { 'src/alike.ts': `export const alike = '${randomUUID()}'\n` }
    const long = 'a-name-of-one-hundred-characters-'.repeat(3).slice(0, 97)
    const repositories = [
      await muster.repository('widgets-core', {}, 'acme'),
      await muster.repository('core', {}, 'acme-widgets'),
      await muster.repository(`${long}-a`),
      await muster.repository(`${long}-b`),
    ]
    const runs = []
    for (const repository of repositories) {
      const pullRequest = await muster.open(repository, files)
      const run = await muster.ended(pullRequest)
      expect(run).toMatchObject({ outcome: 'reviewed' })
      expect(reviewsOf(pullRequest)).toHaveLength(1)
      runs.push(run.runId)
    }
    expect(new Set(runs).size).toBe(4)
    const names = (await muster.aws.executions()).map(({ name = '' }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[0-9A-Za-z_-]{1,80}$/)
  })
})
