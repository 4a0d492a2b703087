/** Conclusions without a model: unread parts are named, and changes of text need no push. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  // A short lease: a waiting edit is taken up soon after the review of its head.
  muster = await startMuster({ leaseSeconds: 9 })
})
afterAll(() => muster?.close())

const summaryOf = (pullRequest: TestPullRequest) =>
  muster
    .shown(pullRequest)
    .issueComments.map(({ body }) => body)
    .join('\n')
const conclusionsOf = (pullRequest: TestPullRequest) =>
  muster.shown(pullRequest).checkRuns.flatMap(({ runs }) => runs.map(({ conclusion }) => conclusion))
/** Assembled at run time, so that the repository holds no secret. */
const AWS_KEY_ID = ['AKIA', 'Z7QX4N2M', 'P5TJ3WLK'].join('')
const MODELS_OFF = { '.github/muster.yml': 'lenses: { correctness: off }\n' }

describe('an unread lens', () => {
  it('without a configured model the verdict is incomplete, neutral, and names the lens and the remedy; findings of other lenses are posted', async () => {
    const repository = await muster.repository('no-model')
    const pullRequest = await muster.open(repository, { 'src/key.ts': `export const key = '${AWS_KEY_ID}'\n` })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'incomplete' })
    expect(conclusionsOf(pullRequest)).toEqual(['neutral'])
    const summary = summaryOf(pullRequest)
    expect(summary).toMatch(/lens correctness did not read.*no model is configured/)
    expect(summary).toContain('lenses.correctness: off')
    expect(summary).not.toContain('no critical or important finding remains')
    const [review] = muster.shown(pullRequest).reviews
    expect(review?.comments.map(({ path, line }) => [path, line])).toEqual([['src/key.ts', 1]])
    expect(muster.shown(pullRequest).labels).toEqual(['muster: action required'])
  })

  it('a lens that the configuration sets off does not count: the verdict can be pass', async () => {
    const repository = await muster.repository('off', MODELS_OFF)
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const a = 1\n' })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'pass' })
    expect(conclusionsOf(pullRequest)).toEqual(['success'])
    expect(summaryOf(pullRequest)).toContain('no critical or important finding remains')
  })

  it('LE13: with every lens off nothing was read, so the verdict is incomplete and not a pass', async () => {
    const off = 'lenses: { secrets: off, workflows: off, description: off, correctness: off }\n'
    const repository = await muster.repository('all-off', { '.github/muster.yml': off })
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const a = 1\n' })
    expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'incomplete' })
    expect(conclusionsOf(pullRequest)).toEqual(['neutral'])
  })

  it('AD5: an empty diff is incomplete with its own reason', async () => {
    const repository = await muster.repository('empty', { ...MODELS_OFF, 'src/a.ts': 'export const a = 1\n' })
    const pullRequest = await muster.open(repository, {})
    expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'incomplete' })
    expect(conclusionsOf(pullRequest)).toEqual(['neutral'])
    expect(summaryOf(pullRequest)).toContain('The diff is empty')
  })

  it('C1, P1: a mistake in the base’s configuration is named and the defaults apply; the pull request’s own file has no effect', async () => {
    const repository = await muster.repository('typo', { '.github/muster.yml': 'lenses: { secretz: off }\n' })
    const pullRequest = await muster.open(repository, {
      '.github/muster.yml': 'lenses: { secrets: off, correctness: off }\n',
      'src/key.ts': `export const key = '${AWS_KEY_ID}'\n`,
    })
    await muster.ended(pullRequest)
    expect(summaryOf(pullRequest)).toMatch(/lenses\.secretz.*Did you mean/)
    expect(muster.shown(pullRequest).reviews[0]?.comments.map(({ path }) => path)).toEqual(['src/key.ts'])
  })

  it('RC7: the value of a secret is in no post and in no log', async () => {
    const repository = await muster.repository('redacted', MODELS_OFF)
    const pullRequest = await muster.open(repository, { 'src/key.ts': `export const key = '${AWS_KEY_ID}'\n` })
    const run = await muster.ended(pullRequest)
    expect(run).toMatchObject({ verdict: 'changes_requested' })
    expect(conclusionsOf(pullRequest)).toEqual(['failure'])
    const { reviews, issueComments, checkRuns } = muster.shown(pullRequest)
    const said = [
      ...reviews.flatMap(({ body, comments }) => [body, ...comments.map((comment) => comment.body)]),
      ...issueComments.map(({ body }) => body),
      ...checkRuns.flatMap(({ runs }) => runs.map((each) => JSON.stringify(each))),
      ...muster.lines.map(({ text }) => text),
    ].join('\n')
    expect(said).not.toContain(AWS_KEY_ID)
  })
})

describe('the description', () => {
  const TEMPLATE = '## What\n\n## How it was tested\n\n## Risk\n'
  const written = (...sections: string[]) => sections.map((section) => `## ${section}\n\nIt is said here.\n`).join('\n')
  const missing = (pullRequest: TestPullRequest) =>
    /^#### \d+\. The description lacks (.*)$/m.exec(summaryOf(pullRequest))?.[1]

  it('PR6: after six edits one comment lists exactly the missing parts, nothing more is posted, and the check is green without a push', async () => {
    const repository = await muster.repository('described', {
      ...MODELS_OFF,
      '.github/pull_request_template.md': TEMPLATE,
    })
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const a = 1\n' }, { body: 'I changed a.' })
    expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'concerns' })
    expect(missing(pullRequest)).toBe('“What”, “How it was tested”, “Risk”')
    const [comment] = muster.shown(pullRequest).issueComments
    const said = muster.shown(pullRequest).reviews

    const edits = [
      [written('What'), '“How it was tested”, “Risk”'],
      [written('What', 'Risk'), '“How it was tested”'],
      [written('Risk'), '“What”, “How it was tested”'],
      ['', '“What”, “How it was tested”, “Risk”'],
      [written('How it was tested', 'Risk'), '“What”'],
    ] as const
    for (const [body, left] of edits) {
      await muster.github.edit(repository.fullName, pullRequest.number, { body })
      expect(await muster.ended(pullRequest)).toMatchObject({ kind: 'analyzers', outcome: 'reviewed' })
      expect(missing(pullRequest)).toBe(left)
      expect(conclusionsOf(pullRequest)).toEqual(['neutral'])
    }
    await muster.github.edit(repository.fullName, pullRequest.number, {
      body: written('What', 'How it was tested', 'Risk'),
    })
    expect(await muster.ended(pullRequest)).toMatchObject({ verdict: 'pass' })

    const shown = muster.shown(pullRequest)
    expect(conclusionsOf(pullRequest)).toEqual(['success'])
    expect(shown.labels).toEqual(['muster: passed'])
    expect(missing(pullRequest)).toBeUndefined()
    expect(shown.reviews).toEqual(said)
    expect(shown.issueComments.map(({ id }) => id)).toEqual([comment?.id])
    expect((await muster.thread(pullRequest)).round).toBe(1)
  })

  it('PR6: edits in quick succession end at the last text', async () => {
    const repository = await muster.repository('hasty', { ...MODELS_OFF, '.github/pull_request_template.md': TEMPLATE })
    const pullRequest = await muster.open(repository, { 'src/a.ts': 'export const a = 1\n' }, { body: null })
    for (const body of ['one', 'two', written('What', 'How it was tested', 'Risk')]) {
      await muster.github.edit(repository.fullName, pullRequest.number, { body })
    }
    await muster.until('a green check run', () => conclusionsOf(pullRequest).join() === 'success')
    await muster.until('no run under way', async () => {
      const runs = muster.github.deliveries().filter((one) => one.repository === repository.fullName)
      const states = await Promise.all(
        runs.map(async ({ result }) => (await muster.run(String(JSON.parse(result?.responseBody ?? '{}').run)))?.state),
      )
      return states.every((state) => state === 'ended')
    })
    expect(conclusionsOf(pullRequest)).toEqual(['success'])
    expect(missing(pullRequest)).toBeUndefined()
    expect(muster.shown(pullRequest).reviews).toHaveLength(1)
    expect(muster.shown(pullRequest).issueComments).toHaveLength(1)
  })
})
