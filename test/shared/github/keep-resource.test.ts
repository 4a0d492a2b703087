import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepCheckRun } from '../../../shared/github/keep-check-run.ts'
import { keepLabel, keepSummary } from '../../../shared/github/keep-resource.ts'
import { type Annotation, type CheckRunResource, markerOf } from '../../../shared/publishing/github-payloads.ts'
import { openWorld, type TestWorld } from './world.ts'

let world: TestWorld
beforeEach(async () => {
  world = await openWorld()
})
afterEach(() => world.close())

const WRITES = /^(POST|PATCH|PUT|DELETE) .*\/(comments|check-runs|labels)/

function writes(): string[] {
  return world.wire.asked.filter((name) => WRITES.test(name))
}

function seen() {
  return world.standIn.pullRequest('acme/parcels', world.number)
}

describe('the summary comment', () => {
  const keep = (body: string, generation: number) => {
    const { repo, repositoryId, number } = world
    return keepSummary(world.github, { repo, repositoryId, number }, { kind: 'summary', body }, generation)
  }
  const bodies = () => seen().issueComments.map(({ body }) => body.split('\n')[0])
  const marker = (generation: number) => markerOf.summary(world.repositoryId, world.number, generation)

  it('a summary is created, then changed in place, with the generation in its marker', async () => {
    const first = await keep('one', 1)
    const second = await keep('two', 2)
    expect(first).toMatchObject({ state: 'shown', generation: 1 })
    expect(second).toEqual({ ...first, generation: 2 })
    expect(seen().issueComments.map(({ body }) => body)).toEqual([`two\n${marker(2)}`])
  })

  it('a summary with the desired text is not written again', async () => {
    await keep('one', 1)
    const before = writes().length
    expect(await keep('one', 1)).toMatchObject({ state: 'shown' })
    expect(writes()).toHaveLength(before)
  })

  it('PR5, IL5: a newer generation survives an older poster, and an older one is brought to the newer', async () => {
    await keep('two', 2)
    expect(await keep('one', 1)).toMatchObject({ state: 'shown', generation: 2 })
    expect(bodies()).toEqual(['two'])
    const [comment] = seen().issueComments
    await world.github.updateComment(world.repo, comment?.id ?? 0, `one\n${marker(1)}`)
    expect(await keep('two', 2)).toMatchObject({ state: 'shown', generation: 2 })
    expect(bodies()).toEqual(['two'])
  })

  it('D15: a failed list of comments leads to no write', async () => {
    world.wire.break(/^GET .*\/issues\/\d+\/comments$/, {
      kind: 'answered',
      status: 403,
      body: { message: 'secondary rate limit' },
    })
    expect(await keep('one', 1)).toMatchObject({ state: 'unknown', because: { code: 'github_throttled' } })
    expect(writes()).toEqual([])
  })

  it('AW70: a create with a lost answer leaves one comment', async () => {
    world.wire.break(/^POST .*\/comments$/, { kind: 'answer_lost' })
    expect(await keep('one', 1)).toMatchObject({ state: 'shown' })
    expect(bodies()).toEqual(['one'])
  })

  it('D15: a summary beyond a cut list is found by its recorded id, and never made anew', async () => {
    const first = await keep('one', 1)
    const headers = { link: '<http://x/?page=2>; rel="next"' }
    world.wire.break(/^GET .*\/issues\/\d+\/comments$/, { kind: 'answered', status: 200, body: [], headers }, 120)
    expect(await keep('two', 2)).toMatchObject({ state: 'unknown', because: { code: 'not_shown' } })
    const { repo, repositoryId, number, github } = world
    const place = { repo, repositoryId, number, knownId: first.state === 'shown' ? (first.id ?? 0) : 0 }
    expect(await keepSummary(github, place, { kind: 'summary', body: 'two' }, 2)).toMatchObject({ state: 'shown' })
    expect(bodies()).toEqual(['two'])
  })

  it('LE7: of two summaries the oldest stays', async () => {
    const { github, repo, number } = world
    await github.createComment(repo, number, `one\n${marker(1)}`)
    await github.createComment(repo, number, `one\n${marker(1)}`)
    const [oldest] = seen().issueComments
    expect(await keep('one', 1)).toMatchObject({ state: 'shown', id: oldest?.id })
    expect(seen().issueComments).toHaveLength(1)
  })

  it('F5, AW71: a comment of a person that quotes our marker stays, as does our own text with a quoted marker', async () => {
    const { github, repo, number } = world
    await github.createComment(repo, number, `We saw\n${marker(9)}\nin a log.`)
    world.wire.break(/^GET .*\/issues\/\d+\/comments$/, {
      kind: 'answered',
      status: 200,
      body: [{ id: 1, body: `mine\n${marker(9)}`, user: { id: 3, login: 'eve' } }],
    })
    expect(await keep('one', 1)).toMatchObject({ state: 'shown', generation: 1 })
    expect(seen().issueComments).toHaveLength(2)
  })
})

describe('the check run', () => {
  const desired = (changes: Partial<CheckRunResource> = {}): CheckRunResource => ({
    kind: 'check_run',
    head: world.example.head.sha,
    externalId: 'muster:v1:1:1:head',
    name: 'Muster',
    status: 'completed',
    conclusion: 'failure',
    title: '1 critical',
    summary: 'One finding.',
    text: 'All of it.',
    annotations: [],
    ...changes,
  })
  const keep = (changes: Partial<CheckRunResource> = {}) => keepCheckRun(world.github, world.repo, desired(changes))
  const runs = () => seen().checkRuns.flatMap(({ runs: all }) => all)
  const annotation = (at: number): Annotation => ({
    path: 'src/archive.js',
    startLine: 1,
    endLine: 1,
    level: 'failure',
    title: `Number ${at}`,
    message: 'It fails.',
  })

  it('a check run is created in progress and completed in place', async () => {
    const { conclusion: _, ...running } = desired({ status: 'in_progress', title: 'Reading' })
    const first = await keepCheckRun(world.github, world.repo, running)
    expect(first).toMatchObject({ state: 'shown' })
    expect(await keep()).toEqual(first)
    expect(runs()).toMatchObject([{ status: 'completed', conclusion: 'failure', title: '1 critical' }])
  })

  it('S1: 143 annotations go in requests of 50, and none goes twice', async () => {
    const annotations = Array.from({ length: 143 }, (_, at) => annotation(at))
    expect(await keep({ annotations })).toMatchObject({ state: 'shown' })
    expect(writes()).toHaveLength(3)
    expect(await keep({ annotations })).toMatchObject({ state: 'shown' })
    expect(writes()).toHaveLength(3)
    expect(runs()[0]?.annotations.map(({ title }) => title)).toEqual(annotations.map(({ title }) => title))
  })

  it('S1: a crash after the first 50 annotations loses none and repeats none', async () => {
    const annotations = Array.from({ length: 120 }, (_, at) => annotation(at))
    world.wire.break(/^PATCH /, { kind: 'answered', status: 502, body: {} }, 2)
    expect(await keep({ annotations })).toMatchObject({ state: 'unknown' })
    expect(await keep({ annotations })).toMatchObject({ state: 'shown' })
    expect(runs()[0]?.annotations.map(({ title }) => title)).toEqual(annotations.map(({ title }) => title))
  })

  it('S1: equal annotations of two lenses show once, also after an earlier verdict with the same annotation', async () => {
    expect(await keep({ annotations: [annotation(1)] })).toMatchObject({ state: 'shown' })
    const again = { title: '2 critical', annotations: [annotation(1), annotation(1), annotation(2)] }
    expect(await keep(again)).toMatchObject({ state: 'shown' })
    expect(runs()[0]?.annotations.map(({ title }) => title)).toEqual(['Number 1', 'Number 2'])
  })

  it('S1: a missing annotation is noticed beside annotations of an earlier verdict', async () => {
    expect(await keep({ annotations: [annotation(1), annotation(2)] })).toMatchObject({ state: 'shown' })
    world.wire.break(/^PATCH /, { kind: 'answered', status: 502, body: {} }, 1)
    expect(await keep({ annotations: [annotation(3)] })).toMatchObject({ state: 'unknown' })
    expect(await keep({ annotations: [annotation(3)] })).toMatchObject({ state: 'shown' })
    expect(runs()[0]?.annotations.map(({ title }) => title)).toEqual(['Number 1', 'Number 2', 'Number 3'])
  })

  it('of two check runs the older is kept and the other is completed', async () => {
    const { github, repo, example } = world
    const change = {
      name: 'Muster',
      status: 'in_progress',
      title: 'x',
      summary: 'x',
      text: '',
      annotations: [],
    } as const
    const older = await github.createCheckRun(repo, example.head.sha, desired().externalId, change)
    await github.createCheckRun(repo, example.head.sha, desired().externalId, change)
    expect(await keep()).toEqual({ state: 'shown', id: older })
    expect(runs().map(({ status, conclusion }) => `${status} ${conclusion}`)).toEqual([
      'completed failure',
      'completed cancelled',
    ])
  })

  it('LE14: a create with 201 that GitHub does not show is not posted', async () => {
    world.wire.break(/^POST .*\/check-runs$/, { kind: 'answered', status: 201, body: { id: 1 } })
    expect(await keep()).toMatchObject({ state: 'unknown', because: { code: 'not_shown' } })
  })

  it('D15: a failed list of check runs leads to no write', async () => {
    world.wire.break(/^GET .*\/check-runs$/, { kind: 'answered', status: 500, body: {} }, 2)
    expect(await keep()).toMatchObject({ state: 'unknown' })
    expect(writes()).toEqual([])
  })
})

describe('the label', () => {
  const keep = (label: 'muster: checking' | 'muster: passed') =>
    keepLabel(world.github, world.repo, world.number, { kind: 'label', label })

  it('PR1: a pull request has exactly one of our three labels, and other labels stay', async () => {
    await world.github.addLabel(world.repo, world.number, 'bug')
    expect(await keep('muster: checking')).toEqual({ state: 'shown' })
    expect(await keep('muster: passed')).toEqual({ state: 'shown' })
    expect([...seen().labels].sort()).toEqual(['bug', 'muster: passed'])
    const before = writes().length
    expect(await keep('muster: passed')).toEqual({ state: 'shown' })
    expect(writes()).toHaveLength(before)
  })

  it('AW70: a removal with a lost answer leaves one of our labels', async () => {
    await keep('muster: checking')
    world.wire.break(/^DELETE .*\/labels\//, { kind: 'answer_lost' })
    expect(await keep('muster: passed')).toEqual({ state: 'shown' })
    expect(seen().labels).toEqual(['muster: passed'])
  })
})
