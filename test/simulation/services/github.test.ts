/** The simulated GitHub answers and behaves like the local stand-in over git, and takes no real time. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { installationId } from '../../../infra/local/github/identity.ts'
import { openGitHub } from '../../../shared/github/client.ts'
import { jwtSigner } from '../../../shared/github/credentials.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import {
  APP,
  type Clock,
  commitTime,
  overGit,
  REPO,
  REPOSITORY,
  type Side,
  servedAt,
  simulated,
  simulatedGitHub,
} from './github/world.ts'

const lines = (...texts: (string | number)[]) => texts.map((text) => `${text}\n`).join('')
const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

const HISTORY = [
  {
    'src/app.ts': lines('export function start() {', ...count(1, 12), '}', 'export const end = 1', ...count(20, 40)),
    'src/old.ts': lines('moved', 'as it is'),
    'src/gone.ts': lines('a', 'b'),
    'README.md': 'no line feed at the end',
    '.github/pull_request_template.md': lines('## Why'),
  },
  {
    'src/app.ts': lines('export function start() {', ...count(1, 6), 'new', ...count(7, 12), '}', ...count(20, 39), 41),
    'src/old.ts': null,
    'src/new.ts': lines('moved', 'as it is'),
    'src/gone.ts': null,
    'src/deep/er/added.ts': lines('one', 'two', 'ü€😀'),
    'README.md': 'no line feed at the end\nbut more',
  },
  { 'src/deep/er/added.ts': lines('one', 'two', 'three'), 'src/new.ts': '' },
]

const CHANGE = { name: 'Muster', status: 'in_progress', title: 't', summary: 's', text: '', annotations: [] } as const
const ANNOTATION = { path: 'src/app.ts', startLine: 1, endLine: 2, level: 'warning', title: 'x', message: 'y' } as const
const onLine = (line: number, path = 'src/app.ts') => ({ path, side: 'RIGHT', line, body: `About ${line}.` }) as const

/** Every request of the adapter, in an order that meets each rule once. */
async function conversation({ github, controls, commits, push }: Side, clock: Clock): Promise<[string, unknown][]> {
  const said: [string, unknown][] = []
  async function ask<K extends keyof GitHub>(method: K, ...given: Parameters<GitHub[K]>): Promise<unknown> {
    clock.ms += 1_500
    const call = github[method] as (...given: Parameters<GitHub[K]>) => Promise<unknown>
    const answer = await call(...given).catch(({ name, code, message }) => ({ failed: { name, code, message } }))
    said.push([method, answer])
    return answer
  }
  const [base = '', first = '', second = ''] = commits
  const review = (...comments: ReturnType<typeof onLine>[]) => ({ commitId: first, body: 'Said.', comments })
  const idOf = (created: unknown) => (created as { id: number }).id

  await ask('identity')
  await ask('pullRequest', REPO, 1)
  await ask('pullRequest', REPO, 2)
  await ask('files', REPO, 1)
  await ask('mergeBase', REPO, base, `change-${first.slice(0, 8)}`)
  await ask('textAt', REPO, first, 'src/deep/er/added.ts')
  await ask('textAt', REPO, first, 'src/gone.ts')
  await ask('textAt', REPO, base, 'src/gone.ts')
  await ask('textAt', REPO, base, 'src')
  await ask('pullRequestTemplate', REPO, base)
  await ask('blob', REPO, '0'.repeat(40))

  await ask('createPendingReview', REPO, 1, review(onLine(8), onLine(999)))
  await ask('createPendingReview', REPO, 1, review(onLine(1, 'src/none.ts')))
  const pending = idOf(await ask('createPendingReview', REPO, 1, review(onLine(8), onLine(2, 'src/deep/er/added.ts'))))
  await ask('createPendingReview', REPO, 1, review())
  await ask('reviews', REPO, 1)
  await ask('deletePendingReview', REPO, 1, pending)
  await ask('deletePendingReview', REPO, 1, pending)
  const spoken = idOf(await ask('createPendingReview', REPO, 1, review(onLine(8))))
  await ask('submitReview', REPO, 1, spoken, 'REQUEST_CHANGES', 'Said, at last.')
  await ask('submitReview', REPO, 1, spoken, 'COMMENT', undefined)
  await ask('deletePendingReview', REPO, 1, spoken)
  await ask('reviewComments', REPO, 1, spoken)

  const comment = (await ask('createComment', REPO, 1, 'First')) as number
  controls.comment(REPOSITORY, 1, 'jun', 'A person')
  await ask('updateComment', REPO, comment, 'Changed')
  await ask('updateComment', REPO, 1, 'Not there')
  await ask('createComment', REPO, 1, ' ')
  await ask('comments', REPO, 1)
  await ask('deleteComment', REPO, comment)
  await ask('deleteComment', REPO, comment)
  await ask('comment', REPO, comment)

  const run = (await ask('createCheckRun', REPO, first, 'acme', { ...CHANGE, annotations: [ANNOTATION] })) as number
  await ask('createCheckRun', REPO, 'f'.repeat(40), 'acme', CHANGE)
  const done = { ...CHANGE, status: 'completed', conclusion: 'neutral', annotations: [ANNOTATION] } as const
  await ask('updateCheckRun', REPO, run, done)
  await ask('checkRuns', REPO, first, 'acme')
  await ask('checkRuns', REPO, first, 'other')
  await ask('checkRunAnnotations', REPO, run)

  await ask('addLabel', REPO, 1, 'muster: checking')
  await ask('addLabel', REPO, 1, 'kept')
  await ask('removeLabel', REPO, 1, 'muster: checking')
  await ask('removeLabel', REPO, 1, 'muster: checking')
  await ask('labels', REPO, 1)

  await push(2)
  await ask('pullRequest', REPO, 1)
  await ask('files', REPO, 1)
  await ask('mergeBase', REPO, first, second)
  await ask('reviewComments', REPO, 1, spoken)
  await ask('createPendingReview', REPO, 1, review(onLine(8)))
  await controls.edit(REPOSITORY, 1, { title: 'Another title', body: 'Why' })
  await controls.closePullRequest(REPOSITORY, 1)
  await ask('pullRequest', REPO, 1)
  await controls.reopenPullRequest(REPOSITORY, 1)
  await ask('pullRequest', REPO, 1)
  return said
}

test('the simulated GitHub answers a whole conversation like the stand-in over git, to the last id, patch and webhook', async () => {
  const clocks: Clock[] = [{ ms: 0 }, { ms: 0 }]
  const [one = { ms: 0 }, other = { ms: 0 }] = clocks
  const sides = [await overGit(one, ...HISTORY), await simulated(other, ...HISTORY)] as const
  expect(sides[1].commits).toEqual(sides[0].commits)
  const [real, ours] = [await conversation(sides[0], one), await conversation(sides[1], other)]
  for (const [index, answered] of real.entries()) expect(ours[index]).toEqual(answered)
  expect(ours).toHaveLength(real.length)
  expect(sides[1].controls.pullRequest(REPOSITORY, 1)).toEqual(sides[0].controls.pullRequest(REPOSITORY, 1))
  expect(sides[1].webhooks()).toEqual(sides[0].webhooks())
  expect(sides[1].webhooks().map((body) => (body as { action: string }).action)).toEqual([
    'opened',
    'created',
    'synchronize',
    'edited',
    'closed',
    'reopened',
  ])
})

/** A simulated GitHub with one pull request, called over HTTP by the adapter. */
async function opened() {
  const clock: Clock = { ms: commitTime(0) }
  const world = simulatedGitHub(clock)
  await world.addRepository({ ...REPO, files: { 'a.ts': lines(1, 2, 3) } })
  const { number, head } = await world.open({ repository: REPOSITORY, files: { 'a.ts': lines(1, 'two', 3) } })
  const url = await servedAt(world)
  const credentials = { appId: APP.id, privateKey: APP.privateKey }
  const github = openGitHub(credentials, { baseUrl: url, now: () => clock.ms })(installationId(REPO.owner))
  return { clock, world, number, head, github }
}

describe('accepted writes', () => {
  test('I4: each accepted write is recorded once, with its commit and the pull request’s head at that moment', async () => {
    const { clock, world, number, head, github } = await opened()
    const created = await github.createPendingReview(REPO, number, { commitId: head, body: 'Said.', comments: [] })
    if (created.state !== 'created') throw new Error('Expected a review')
    await github.createPendingReview(REPO, number, { commitId: head, body: 'Refused.', comments: [] })
    clock.ms += 1_000
    const next = await world.push(REPOSITORY, number, { 'a.ts': lines(1, 'zwei', 3) })
    await github.submitReview(REPO, number, created.id, 'COMMENT', undefined)
    const comment = await github.createComment(REPO, number, 'Hello')
    await github.deleteComment(REPO, comment)
    const run = await github.createCheckRun(REPO, next, 'acme', CHANGE)
    const [before, after] = [
      { head, state: 'open' },
      { head: next, state: 'open' },
    ] as const
    expect(world.writes.map(({ sent, ...write }) => write)).toEqual([
      write('review_created', { id: created.id, head, pull: before, content: true }),
      write('review_submitted', { id: created.id, head, pull: after, at: clock.ms, content: true }),
      write('comment_created', { id: comment, pull: after, at: clock.ms, content: true }),
      write('comment_deleted', { id: comment, pull: after, at: clock.ms }),
      write('check_run_created', { id: run, head: next, number: undefined, at: clock.ms }),
    ])
    expect(world.writes[0]?.sent).toMatchObject({ body: 'Said.', commit_id: head })
  })

  const write = (kind: string, facts: object) => ({
    kind,
    at: commitTime(0),
    repository: REPOSITORY,
    number: 1,
    head: undefined,
    pull: undefined,
    content: false,
    ...facts,
  })
})

test('each webhook is handed over once, signed over its bytes', async () => {
  const { world, number } = await opened()
  await world.push(REPOSITORY, number, { 'b.ts': 'b\n' })
  const [first, second, ...others] = world.takeWebhooks()
  expect([first?.action, second?.action, others]).toEqual(['opened', 'synchronize', []])
  const signature = createHmac('sha256', APP.webhookSecret)
    .update(second?.body ?? '')
    .digest('hex')
  expect(second?.headers).toMatchObject({
    'x-github-event': 'pull_request',
    'x-hub-signature-256': `sha256=${signature}`,
  })
  expect(second?.headers['x-github-delivery']).not.toBe(first?.headers['x-github-delivery'])
  expect(world.takeWebhooks()).toEqual([])
})

describe('limits and lag in simulated time', () => {
  test('the 81st comment of a minute is refused until the window has room, and check runs do not count', async () => {
    const { clock, world, number, head, github } = await opened()
    for (let run = 0; run < 20; run += 1) await github.createCheckRun(REPO, head, `${run}`, CHANGE)
    for (let said = 0; said < 80; said += 1) await github.createComment(REPO, number, `${said}`)
    clock.ms += 20_000
    const refused = github.createComment(REPO, number, 'one more')
    await expect(refused).rejects.toMatchObject({ code: 'github_throttled', afterMs: 40_000 })
    await github.createCheckRun(REPO, head, 'last', CHANGE)
    clock.ms += 40_000
    await github.createComment(REPO, number, 'one more')
    expect(world.writes.filter(({ content }) => content)).toHaveLength(81)
  })

  test('AW73: only the chosen list lags, from the order of the lag until its end', async () => {
    const { clock, world, number, head, github } = await opened()
    clock.ms += 60_000
    await github.createPendingReview(REPO, number, { commitId: head, body: 'Said.', comments: [] })
    await github.createComment(REPO, number, 'Hello')
    const lagging = world.lag({ route: 'GET /repos/{owner}/{repo}/pulls/{n}/reviews', lagMs: 2_000 })
    const seen = async () => [
      (await github.reviews(REPO, number)).rows.length,
      (await github.comments(REPO, number)).rows.length,
    ]
    expect(await seen()).toEqual([0, 1])
    clock.ms += 2_000
    expect(await seen()).toEqual([1, 1])
    lagging.end()
    await github.createComment(REPO, number, 'Hello')
    expect([lagging.struck, await seen()]).toEqual([2, [1, 2]])
  })
})

describe('repeatable and immediate answers', () => {
  async function asked(world: ReturnType<typeof simulatedGitHub>, clock: Clock) {
    const { installationId: installation } = await world.addRepository({ ...REPO, files: { 'a.ts': lines(1) } })
    await world.open({ repository: REPOSITORY, files: { 'a.ts': lines(2), 'b.ts': lines(1) } })
    const { jwt } = await jwtSigner({ appId: APP.id, privateKey: APP.privateKey }, () => clock.ms)(APP.id)
    const call = (method: string, path: string, authorization: string, body = '') =>
      world.answerLater({ method, path, headers: { authorization }, body })
    const token = await call('POST', `/app/installations/${installation}/access_tokens`, `bearer ${jwt}`)
    const authorization = `token ${(JSON.parse(token.body) as { token: string }).token}`
    const at = `/repos/${REPOSITORY}`
    return [
      token,
      await call('GET', `${at}/pulls/1`, authorization),
      await call('GET', `${at}/pulls/1/files`, authorization),
      await call('GET', `${at}/contents/?ref=main`, authorization),
      await call('GET', `${at}/compare/main...main`, authorization),
      await call('GET', `${at}/contents/src?ref=main`, authorization),
      await call('POST', `${at}/pulls/1/reviews`, authorization, '{"comments":[{"path":"b.ts","line":1,"body":"x"}]}'),
      await call('POST', `${at}/issues/1/comments`, authorization, '{'),
      ...world.takeWebhooks(),
    ]
  }

  test('two simulated GitHubs answer the same requests byte for byte alike', async () => {
    const clock = { ms: commitTime(0) }
    const first = await asked(simulatedGitHub(clock), clock)
    expect(await asked(simulatedGitHub(clock), clock)).toEqual(first)
    expect(first.map((one) => ('status' in one ? one.status : one.event))).toEqual([
      201,
      200,
      200,
      200,
      200,
      404,
      200,
      400,
      'pull_request',
    ])
  })

  test('every answer is settled before the event loop turns', async () => {
    const clock = { ms: commitTime(0) }
    let settled: unknown
    asked(simulatedGitHub(clock), clock).then(
      () => {
        settled = true
      },
      (error: unknown) => {
        settled = error
      },
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(settled).toBe(true)
  })
})
