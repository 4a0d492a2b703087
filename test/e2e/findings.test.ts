/** Findings: their positions in odd diffs, their life over pushes, and the effect of a failed lens. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Muster, patientTests, startMuster, type TestPullRequest } from './harness.ts'

patientTests()

let muster: Muster
beforeAll(async () => {
  muster = await startMuster({ model: true })
})
afterAll(() => muster?.close())

/** Assembled at run time, so that the repository holds no secret. */
const AWS_KEY_ID = ['AKIA', 'Z7QX4N2M', 'P5TJ3WLK'].join('')
/** GitHub takes no longer body, bytes. */
const BODY_BYTES_MAX = 65_535

const claim = (path: string, quote: string, more: object = {}) => ({
  rule: 'wrong-result',
  severity: 'high',
  title: `A fault at ${quote}`,
  scenario: 'With an empty list it answers the wrong thing.',
  clears: 'Answer nothing for an empty list.',
  path,
  quote,
  side: 'new',
  line: null,
  ...more,
})
const summaryOf = (pullRequest: TestPullRequest) =>
  muster
    .shown(pullRequest)
    .issueComments.map(({ body }) => body)
    .join('\n')
const reviewAt = (pullRequest: TestPullRequest) =>
  muster.shown(pullRequest).reviews.find(({ commitId }) => commitId === pullRequest.head)
const anchorsOf = (pullRequest: TestPullRequest) =>
  reviewAt(pullRequest)?.comments.map(({ path, side, line, startLine }) => ({ path, side, line, startLine }))
const conclusionOf = (pullRequest: TestPullRequest) =>
  muster
    .shown(pullRequest)
    .checkRuns.find(({ headSha }) => headSha === pullRequest.head)
    ?.runs.map(({ conclusion }) => conclusion)

describe('over pushes', () => {
  it('FI1, FI3, T1, D9: of two findings the first is fixed, the second keeps identity and origin and is not posted again', async () => {
    const repository = await muster.repository('dispositions')
    muster.model.answer('const fi_one', { findings: [claim('src/one.ts', 'export const fi_one = 1')] })
    muster.model.answer('const fi_two', { findings: [claim('src/two.ts', 'export const fi_two = 2')] })
    muster.model.answer('const fi_two = 2', {
      findings: [claim('src/one.ts', 'export const fi_one = 1'), claim('src/two.ts', 'export const fi_two = 2')],
    })
    const first = await muster.open(repository, {
      'src/one.ts': 'export const fi_one = 1\n',
      'src/two.ts': 'export const fi_two = 2\n',
    })
    expect(await muster.ended(first)).toMatchObject({ verdict: 'changes_requested' })
    expect(anchorsOf(first)?.map(({ path }) => path)).toEqual(['src/one.ts', 'src/two.ts'])

    // A line above moves the second; the first is gone.
    muster.model.answer('fi_fixed', { findings: [claim('src/two.ts', 'export const fi_two = 2')] })
    const second = await muster.push(first, {
      'src/one.ts': 'export const fi_fixed = []\n',
      'src/two.ts': '// a line above\nexport const fi_two = 2\n',
    })
    expect(await muster.ended(second)).toMatchObject({ verdict: 'changes_requested' })
    const origin = `first found at .${first.head.slice(0, 7)}`
    const summary = summaryOf(second)
    expect(summary).toContain('Earlier findings (2)')
    expect(summary).toMatch(new RegExp(`\\*\\*fixed\\*\\*: .*fi.*one.*${origin}`))
    expect(summary).toMatch(new RegExp(`\\*\\*still present\\*\\*: .*fi.*two.*src/two.ts:2.*${origin}`))
    expect(summary).toContain('Important (1)')
    expect(anchorsOf(second)).toEqual([])

    muster.model.answer('fi_gone', { findings: [] })
    const third = await muster.push(second, { 'src/two.ts': 'export const fi_gone = 1\n' })
    expect(await muster.ended(third)).toMatchObject({ verdict: 'pass' })
    expect(summaryOf(third)).toMatch(/\*\*fixed\*\*: .*fi.*two/)
    expect(conclusionOf(third)).toEqual(['success'])
    expect(muster.shown(third).issueComments).toHaveLength(1)
    expect((await muster.thread(third)).round).toBe(3)
  })

  it('FI5: a run that never looked at the finding’s lens leaves the finding open, and is not a pass', async () => {
    const repository = await muster.repository('unlooked')
    muster.model.answer('const fi_five', { findings: [claim('src/five.ts', 'export const fi_five = 1')] })
    const first = await muster.open(repository, { 'src/five.ts': 'export const fi_five = 1\n' })
    await muster.ended(first)
    muster.model.answer('fi_five_other', { status: 401 })
    const second = await muster.push(first, { 'src/other.ts': 'export const fi_five_other = 1\n' })
    expect(await muster.ended(second)).toMatchObject({ verdict: 'incomplete' })
    expect(summaryOf(second)).toMatch(/\*\*not looked at, stays open\*\*: .*fi.*five/)
    expect(summaryOf(second)).toContain('Important (1)')
  })

  it('RO8: after the last round only analyzers read the next push, and the check is no success while a finding is open', async () => {
    const repository = await muster.repository('rounds', { '.github/muster.yml': 'rounds: { ceiling: 1 }\n' })
    muster.model.answer('const ro_eight', { findings: [claim('src/r.ts', 'export const ro_eight = 1')] })
    const first = await muster.open(repository, { 'src/r.ts': 'export const ro_eight = 1\n' })
    await muster.ended(first)
    const second = await muster.push(first, { 'src/more.ts': 'export const more_of_ro_eight = 1\n' })
    await muster.ended(second)
    expect(muster.model.callsAbout('ro_eight')).toHaveLength(1)
    expect(conclusionOf(second)).toEqual(['action_required'])
    expect(muster.shown(second).reviews).toHaveLength(1)
    expect((await muster.thread(second)).round).toBe(1)
  })
})

describe('a failing lens', () => {
  it('J5: a model that answers 401 fails the lens, with reason and remedy; the findings of all further lenses are posted', async () => {
    const repository = await muster.repository('refused')
    muster.model.answer('refused_by_the_model', { status: 401 })
    const pullRequest = await muster.open(repository, {
      'src/key.ts': `export const refused_by_the_model = '${AWS_KEY_ID}'\n`,
    })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'incomplete' })
    expect(conclusionOf(pullRequest)).toEqual(['neutral'])
    const summary = summaryOf(pullRequest)
    expect(summary).toMatch(/lens correctness failed: model_refused/)
    expect(summary).toContain('### What is missing')
    expect(summary).toContain('Critical (1)')
    expect(summary).not.toContain('key-of-the-led-model')
    expect(anchorsOf(pullRequest)).toEqual([{ path: 'src/key.ts', side: 'RIGHT', line: 1, startLine: null }])
  })
})

describe('a failed lens on retry', () => {
  it('LE9, LE12: its new findings are posted once; earlier posts and paid readings are not repeated', async () => {
    const repository = await muster.repository('again')
    muster.model.answer('asked_again', { status: 401 })
    const pullRequest = await muster.open(repository, {
      'src/key.ts': `export const asked_again = '${AWS_KEY_ID}'\n`,
    })
    const failed = await muster.ended(pullRequest)
    expect(failed).toMatchObject({ verdict: 'incomplete', attempt: 1 })

    muster.model.answer('asked_again', { findings: [claim('src/key.ts', 'export const asked_again')] })
    await muster.github.setDraft(repository.fullName, pullRequest.number)
    await muster.github.markReady(repository.fullName, pullRequest.number)
    const whole = await muster.runEnded(String(failed.runId), 2)
    expect(whole).toMatchObject({ outcome: 'reviewed', verdict: 'changes_requested' })
    const { reviews } = muster.shown(pullRequest)
    expect(reviews.map(({ comments }) => comments.length)).toEqual([1, 1])
    expect(reviews[1]?.comments[0]?.body).toContain('lens correctness')
    expect((await muster.thread(pullRequest)).round).toBe(1)
  })
})

describe('in odd diffs', () => {
  it('A7, A8, H12, H13, H15, H18: each finding stands at its quoted line, in any file', async () => {
    const long = Array.from({ length: 3_000 }, (_, index) => `export const line_${index} = ${index}`)
    const repository = await muster.repository('odd', {
      'src/long.ts': `${long.join('\n')}\n`,
      'src/gone.ts': 'export const removed_fault = 1\n',
      'src/old name.ts': `${long.slice(0, 40).join('\n')}\n`,
      'docs/pure.md': `${long.slice(0, 40).join('\n')}\n`,
      'docs/picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]),
    })
    const changed = [...long]
    changed[2_899] = 'export const far_down = 2899'
    const renamed = [...long.slice(0, 40)]
    renamed[20] = 'export const renamed_fault = 20'
    const korean = '한국어/é".md'
    const tabbed = 'src/a b\tc.ts'
    muster.model.answer('far_down', {
      findings: [
        claim('src/long.ts', 'export const far_down = 2899', { line: 1 }),
        claim('src/gone.ts', 'export const removed_fault = 1', { side: 'old' }),
        claim('src/new name.ts', 'export const renamed_fault = 20'),
        claim(korean, 'korean_fault'),
        claim(tabbed, 'tabbed_fault'),
        claim('src/crlf.ts', 'export const crlf_fault = 1'),
        claim('src/last.ts', 'export const last_fault = 1'),
        claim('src/long.ts', 'this stands nowhere'),
      ],
    })
    const pullRequest = await muster.open(
      repository,
      {
        'src/long.ts': `${changed.join('\n')}\n`,
        'src/gone.ts': null,
        'src/new name.ts': `${renamed.join('\n')}\n`,
        'src/old name.ts': null,
        'docs/moved.md': { from: 'docs/pure.md' },
        'docs/picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 3, 2, 1]),
        [korean]: 'one\nkorean_fault\n',
        [tabbed]: 'tabbed_fault\n',
        'src/crlf.ts': 'export const before = 1\r\nexport const crlf_fault = 1\r\n',
        'src/last.ts': 'export const last_before = 1\nexport const last_fault = 1',
      },
      { body: null },
    )
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'changes_requested' })
    const anchors = new Map(anchorsOf(pullRequest)?.map(({ path, side, line }) => [path, [side, line]]))
    expect(Object.fromEntries(anchors)).toEqual({
      'src/long.ts': ['RIGHT', 2_900],
      'src/gone.ts': ['LEFT', 1],
      'src/new name.ts': ['RIGHT', 21],
      [korean]: ['RIGHT', 2],
      [tabbed]: ['RIGHT', 1],
      'src/crlf.ts': ['RIGHT', 2],
      'src/last.ts': ['RIGHT', 2],
    })
    // A3, AW80: a comment on a single line has no start line.
    expect(anchorsOf(pullRequest)?.every(({ startLine }) => startLine === null)).toBe(true)
    const summary = summaryOf(pullRequest)
    expect(summary).toMatch(/Rejected.*\(1\)/)
    expect(summary).toContain('docs/picture.png')
    expect(summary).toContain('docs/moved.md')
    // GitHub refused none of Muster's requests: the anchors are valid.
    expect(muster.github.requests().filter(({ status }) => status === 422)).toEqual([])
  })

  it('H11: a file without a patch is named as not read, and the verdict reports the gap', async () => {
    const repository = await muster.repository('large')
    const line = `${'x'.repeat(99)}\n`
    const pullRequest = await muster.open(repository, {
      'data/large.txt': line.repeat(50_000),
      'docs/picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 3, 2, 1]),
      'src/small.ts': 'export const small = 1\n',
    })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'incomplete' })
    const summary = summaryOf(pullRequest)
    for (const path of ['data/large.txt', 'docs/picture.png']) expect(summary).toContain(path)
    expect(summary).toContain('What is missing')
    expect(conclusionOf(pullRequest)).toEqual(['neutral'])
  })
})

describe('sizes', () => {
  it('S4, R1, S1: 130 long findings fit into GitHub’s limits; all blocking findings are named, and the markers survive', async () => {
    const repository = await muster.repository('many')
    const names = Array.from({ length: 130 }, (_, index) => `many_${index}_end`)
    const scenario = 'With an empty list it answers the wrong thing, 漢字 and all. '.repeat(30)
    muster.model.answer('many_0_end', {
      findings: names.map((name, index) =>
        claim('src/many.ts', `export const ${name} = 1`, {
          title: `Fault ${name}`,
          scenario,
          severity: index < 20 ? 'high' : 'low',
        }),
      ),
    })
    const pullRequest = await muster.open(repository, {
      'src/many.ts': names.map((name) => `export const ${name} = 1\n`).join(''),
    })
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'changes_requested' })
    const { reviews, issueComments, checkRuns } = muster.shown(pullRequest)
    expect([reviews.length, issueComments.length]).toEqual([1, 1])
    const bodies = [
      ...reviews.flatMap(({ body, comments }) => [body, ...comments.map((comment) => comment.body)]),
      ...issueComments.map(({ body }) => body),
    ]
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(BODY_BYTES_MAX)
    const summary = summaryOf(pullRequest)
    expect(summary.trimEnd().split('\n').at(-1)).toMatch(/^<!-- muster:v1 summary \d+#1 \d+ -->$/)
    expect(reviews[0]?.body).toMatch(/<!-- muster:v1 review [0-9a-f]{64} [0-9a-f]{64} -->/)
    for (const name of names.slice(0, 20)) expect(summary.replaceAll('\\', '')).toContain(name)
    expect(summary).toContain('Left out, because a comment has a limit')
    expect(summary).toContain('Suggestions (110)')
    expect(checkRuns[0]?.runs[0]?.annotations).toHaveLength(130)
  })

  it('AW61, AW62: a plan of 1,000 files with long names of several bytes a letter stays below 32,768 bytes in every state', async () => {
    const repository = await muster.repository('wide')
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [
        `src/${'한국어'.repeat(8)}/${index}.ts`,
        `export const wide_${index} = 1\n`.repeat(30),
      ]),
    )
    const pullRequest = await muster.open(repository, files)
    expect(await muster.ended(pullRequest)).toMatchObject({ outcome: 'reviewed', verdict: 'pass' })
    const execution = (await muster.aws.executions()).find(({ name }) => name?.startsWith('acme-wide-pr1-'))
    const events = await muster.aws.history(execution?.executionArn ?? '')
    const texts = events.flatMap(
      ({ stateEnteredEventDetails, stateExitedEventDetails, taskSucceededEventDetails, ...rest }) => [
        stateEnteredEventDetails?.input ?? '',
        stateExitedEventDetails?.output ?? '',
        taskSucceededEventDetails?.output ?? '',
        rest.lambdaFunctionSucceededEventDetails?.output ?? '',
      ],
    )
    const bytes = Math.max(...texts.map((text) => Buffer.byteLength(text)))
    // Many reviews were planned, and still only their names travel.
    expect(muster.model.callsAbout('wide_').length).toBeGreaterThan(10)
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThan(32_768)
  })
})
