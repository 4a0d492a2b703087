/** Commands in comments, end to end: a signed webhook in, GitHub's state out. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { causeOf, runIdOf } from '../../shared/runs/run-identity.ts'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  muster = await startMuster({ model: true })
})
afterAll(() => muster?.close())

/** A repository whose maintainer is `mia`; all other people only read. */
async function repository(name: string) {
  const made = await muster.repository(name)
  muster.github.setPermission(made.fullName, 'mia', 'write')
  return made
}
const comment = ({ repository, number }: TestPullRequest, body: string, login = 'mia') =>
  muster.github.comment(repository.fullName, number, login, body)
const marker = (commentId: number) => `<!-- muster:v1 reply ${commentId} -->`
const repliesTo = (pullRequest: TestPullRequest, commentId: number) =>
  muster.shown(pullRequest).issueComments.filter(({ body }) => body.includes(marker(commentId)))
/** The reply to a comment, once no further reply will come. */
const reply = (pullRequest: TestPullRequest, commentId: number) =>
  muster.until(`a reply to comment ${commentId}`, () => repliesTo(pullRequest, commentId)[0]?.body)
const command = async (pullRequest: TestPullRequest, body: string, login?: string) =>
  reply(pullRequest, comment(pullRequest, body, login))
/** The run whose cause is the pull request's head, whoever asked for the run. */
const runIdOfHead = ({ repository, number, head }: TestPullRequest) =>
  runIdOf(repository.id, number, causeOf.head(head, 'main'))
const headRun = (pullRequest: TestPullRequest, state: string) =>
  muster.until(`a run of ${pullRequest.head.slice(0, 7)} that is ${state}`, async () => {
    const run = await muster.run(runIdOfHead(pullRequest))
    return run?.state === state ? run : undefined
  })
const delivery = (commentId: number) =>
  muster.github.deliveries().findLast(({ payload }) => payload.includes(`"id":${commentId},`))

describe('a review on a person’s command', () => {
  it('AD11: a draft is reviewed on a person’s command only, and once', async () => {
    const draft = await muster.open(
      await repository('draft-asked'),
      { 'src/d.ts': 'export const drafted = 1\n' },
      { draft: true },
    )
    expect((await muster.answered(draft)).body).toMatchObject({ status: 'ignored' })
    expect(await command(draft, '/muster review')).toMatch(/^`\w{7}` is being reviewed\./)
    const run = await headRun(draft, 'ended')
    expect(run).toMatchObject({ outcome: 'reviewed', attempt: 1, askedBy: 'person' })
    // D5: ready without a push, the head has its review already.
    await muster.github.markReady(draft.repository.fullName, draft.number)
    await muster.runEnded(String(run.runId), 2)
    expect(muster.model.callsAbout('drafted')).toHaveLength(1)
    expect(muster.shown(draft).reviews).toHaveLength(1)
  })

  it('D7, PL9: a command during a review joins the review, with a reply; no second review starts', async () => {
    const held = muster.model.hold('joined_here')
    const pullRequest = await muster.open(await repository('joined'), { 'src/j.ts': 'export const joined_here = 1\n' })
    await muster.until('a review at work', () => muster.model.callsAbout('joined_here').length > 0)
    const said = await command(pullRequest, `/muster review ${pullRequest.head.slice(0, 7)}`)
    expect(said).toMatch(/joined that review, and no second review was started/)
    held.release()
    expect(await headRun(pullRequest, 'ended')).toMatchObject({ attempt: 1, outcome: 'reviewed' })
    expect(muster.model.callsAbout('joined_here')).toHaveLength(1)
  })

  it('PL8: while GitHub shows an older head than the command’s SHA, the run waits, and never reviews the older head', async () => {
    const made = await repository('behind')
    const opened = await muster.open(made, { 'src/b.ts': 'export const older_head = 1\n' }, { draft: true })
    // GitHub's times have seconds: a push in the next second is distinct from the earlier state.
    const second = Math.floor(Date.now() / 1_000)
    await muster.until('the next second', () => Math.floor(Date.now() / 1_000) > second + 1)
    const lagging = muster.github.lag({ route: 'GET /repos/{owner}/{repo}/pulls/{pull_number}', lagMs: 60_000 })
    const pushed = await muster.push(opened, { 'src/b.ts': 'export const newer_head = 1\n' })
    const said = command(pushed, `/muster review ${pushed.head}`)
    await muster.until('two looks at what is behind', () => lagging.struck > 1)
    lagging.end()
    expect(await said).toMatch(/is being reviewed\./)
    expect(await headRun(pushed, 'ended')).toMatchObject({ outcome: 'reviewed' })
    expect(await muster.run(runIdOfHead(opened))).toBeUndefined()
    expect(muster.model.callsAbout('older_head')).toEqual([])
  })

  it('a focus reaches the model, and makes it read a reviewed head anew', async () => {
    const pullRequest = await muster.open(await repository('focused'), { 'src/f.ts': 'export const focused_on = 1\n' })
    await headRun(pullRequest, 'ended')
    expect(await command(pullRequest, '/muster review mind the locks')).toMatch(/^`\w{7}` is being reviewed\./)
    await muster.until('the model asked again', () => muster.model.callsAbout('mind the locks').length === 1)
    expect(muster.model.callsAbout('focused_on')).toHaveLength(2)
    expect(muster.model.callsAbout('mind the locks')).toHaveLength(1)
  })

  it('PL7: a SHA that shares eight characters with the head is a mismatch that names the head; no run starts', async () => {
    const pullRequest = await muster.open(
      await repository('mismatch'),
      { 'src/m.ts': 'export const other = 1\n' },
      { draft: true },
    )
    const { head } = pullRequest
    const wrong = head.slice(0, 8) + head.slice(8).replace(/[0-9a-f]/g, (digit) => (digit === '0' ? '1' : '0'))
    const said = await command(pullRequest, `/muster review ${wrong}`)
    expect(said).toMatch(new RegExp(`^\`head_mismatch\`: the head is \`${head}\``))
    expect(await muster.run(runIdOfHead(pullRequest))).toBeUndefined()
  })
})

describe('commands and replies', () => {
  it('D1, AD10: a comment delivered twice is one command; two comments are two commands', async () => {
    const pullRequest = await muster.open(await repository('twice-said'), { 'a.md': 'a\n' })
    const first = comment(pullRequest, '/muster help')
    expect(await reply(pullRequest, first)).toContain('/muster review')
    await muster.github.redeliver(delivery(first)?.guid ?? '')
    const second = comment(pullRequest, '/muster help')
    await reply(pullRequest, second)
    expect([repliesTo(pullRequest, first).length, repliesTo(pullRequest, second).length]).toEqual([1, 1])
  })

  it('LE15: the same comment id with another text changes nothing', async () => {
    const pullRequest = await muster.open(await repository('changed-text'), { 'a.md': 'a\n' })
    const id = comment(pullRequest, '/muster status')
    const before = await reply(pullRequest, id)
    const body = (delivery(id)?.payload ?? '').replaceAll('/muster status', '/muster pause')
    const { status, body: answer } = await muster.deliver(body, { event: 'issue_comment' })
    expect([status, answer]).toMatchObject([409, { error: { code: 'idempotency_conflict' } }])
    expect(await muster.aws.item('HALT', 'HALT')).toBeUndefined()
    expect(repliesTo(pullRequest, id).map(({ body }) => body)).toEqual([before])
  })

  it('a command of a person with read permission gets one reply, and has no effect', async () => {
    const pullRequest = await muster.open(await repository('reader'), { 'a.md': 'a\n' }, { draft: true })
    expect(await command(pullRequest, '/muster review', 'rob')).toMatch(/^Commands are for people with write access/)
    expect(await muster.run(runIdOfHead(pullRequest))).toBeUndefined()
  })

  it('B1, B3, B4: a comment without Muster’s name gets no answer, also under a wrong configuration', async () => {
    const made = await repository('silent')
    const base = await made.commit({ '.github/muster.yml': 'lenses: [broken\n' }, made.base)
    await muster.github.addRepository({
      owner: made.owner,
      name: made.name,
      gitDirectory: made.directory,
      defaultBranch: 'main',
    })
    const pullRequest = await muster.open({ ...made, base }, { 'a.md': 'a\n' }, { draft: true })
    for (const text of [
      'nice work',
      '`/muster review`',
      '> /muster review',
      'please\n/muster review',
      '    /muster review',
    ]) {
      comment(pullRequest, text)
    }
    const last = comment(pullRequest, '/muster help')
    await reply(pullRequest, last)
    const answers = muster.shown(pullRequest).issueComments.filter(({ author }) => author.type === 'Bot')
    expect(answers).toHaveLength(1)
    const ignored = () =>
      muster.github
        .deliveries()
        .filter(
          ({ repository, result }) => repository === made.fullName && result?.responseBody.includes('not_addressed'),
        )
    await muster.until('five comments that are ignored', () => ignored().length === 5)
    expect(muster.shown(pullRequest).issueComments.filter(({ author }) => author.type === 'Bot')).toEqual(answers)
  })
})

describe('runs and halts', () => {
  it('LE6: a run cancelled during a reading posts nothing, and the check run names the canceller; retry takes the run up again', async () => {
    const held = muster.model.hold('cancel_me')
    const pullRequest = await muster.open(await repository('cancelled'), { 'src/c.ts': 'export const cancel_me = 1\n' })
    await muster.until('a review at work', () => muster.model.callsAbout('cancel_me').length > 0)
    expect(await command(pullRequest, '/muster cancel')).toMatch(/is cancelled/)
    const run = await headRun(pullRequest, 'ended')
    expect(run).toMatchObject({ outcome: 'cancelled', reason: { code: 'cancelled', sentence: 'Cancelled by @mia.' } })
    held.release()
    await muster.until('a completed check run', () =>
      muster.shown(pullRequest).checkRuns.some(({ runs }) => runs[0]?.conclusion === 'cancelled'),
    )
    expect(muster.shown(pullRequest).reviews).toEqual([])
    expect(await command(pullRequest, '/muster retry')).toMatch(/taken up again/)
    expect(await muster.runEnded(String(run.runId), 2)).toMatchObject({ outcome: 'reviewed' })
    expect(await command(pullRequest, '/muster status')).toMatch(/^Review of `\w{7}`, attempt 2: reviewed, pass/)
  })

  it('PL4: under a pause a push is held and nothing is posted but the reply to the pause; after the resume the push is reviewed', async () => {
    const made = await repository('paused')
    const quiet = await muster.open(made, { 'a.md': 'a\n' }, { draft: true })
    expect(await command(quiet, '/muster pause for the release')).toMatch(/^Muster is paused/)
    const pullRequest = await muster.open(made, { 'src/p.ts': 'export const held_back = 1\n' })
    await headRun(pullRequest, 'held')
    expect(muster.model.callsAbout('held_back')).toEqual([])
    expect(muster.shown(pullRequest).checkRuns.flatMap(({ runs }) => runs)).toEqual([])
    expect(await command(pullRequest, '/muster review')).toMatch(/waits for the end of a halt/)
    expect(await command(quiet, '/muster resume')).toMatch(/goes on/)
    expect(await headRun(pullRequest, 'ended')).toMatchObject({ outcome: 'reviewed' })
  })
})
