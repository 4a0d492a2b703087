/** Answered state survives any end of the process, and two processes never share a state. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { buildExampleRepository } from '../../../../infra/local/github/example.ts'
import {
  APP,
  AT,
  authorizationOf,
  clientOf,
  makeRepository,
  openPullRequest,
  REPOSITORY,
  startedGitHub,
  temporaryDirectory,
  until,
  webhookEndpoint,
  withPullRequest,
} from './support.ts'

/** Runs a stand-in in a process of its own, which a test can kill. */
async function startChild(directory: string, gitDirectory: string, commits: readonly string[]) {
  const input = JSON.stringify({ directory, gitDirectory, commits, app: APP })
  const child = spawn(process.execPath, [new URL('./child.ts', import.meta.url).pathname, input], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return { url: line, kill }
}

test('LE5: after kill -9 every answered change stands, under the same ids, and numbers go on', async () => {
  const directory = temporaryDirectory()
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const { url, kill } = await startChild(directory, made.directory, made.commits)
  const octokit = clientOf({ url })
  const review = await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
    ...AT,
    pull_number: 1,
    body: 'text',
    comments: [{ path: 'a.txt', line: 1, body: 'why?' }],
  })
  const check = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
    ...AT,
    name: 'muster',
    head_sha: made.commits[1] ?? '',
  })
  const comment = octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...AT,
    issue_number: 1,
    body: 'one',
  })
  const { data: last } = await comment
  await kill()

  const github = await startedGitHub({ directory })
  const shown = github.pullRequest(REPOSITORY, 1)
  expect(shown.reviews).toMatchObject([{ id: review.data.id, pending: true, comments: [{ line: 1 }] }])
  expect(shown.checkRuns).toMatchObject([{ headSha: made.commits[1], runs: [{ id: check.data.id }] }])
  expect(shown.issueComments).toMatchObject([{ id: last.id, body: 'one' }])
  expect(await openPullRequest(github, made)).toBe(2)
})

test('a webhook undelivered at the kill of the process is sent by the next process, once', async () => {
  const directory = temporaryDirectory()
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const { kill } = await startChild(directory, made.directory, made.commits)
  await kill()
  const { url, received } = await webhookEndpoint()
  const first = await startedGitHub({ directory, webhookUrl: url })
  await until(first, () => first.deliveries()[0]?.result != null)
  await first.close()
  const second = await startedGitHub({ directory, webhookUrl: url })
  expect(second.deliveries()).toHaveLength(1)
  await second.close()
  expect(received).toHaveLength(1)
})

test('an installation token still works after a restart', async () => {
  const directory = temporaryDirectory()
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const before = await startedGitHub({ directory })
  await openPullRequest(before, made)
  const authorization = await authorizationOf(before)
  await before.close()
  const after = await startedGitHub({ directory })
  const answer = await fetch(`${after.url}/repos/${REPOSITORY}/pulls/1`, { headers: { authorization } })
  expect(answer.status).toBe(200)
})

test('a second stand-in on the same state is refused, and the first goes on', async () => {
  const directory = temporaryDirectory()
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const github = await startedGitHub({ directory })
  await expect(startedGitHub({ directory })).rejects.toThrow(/^github_state_in_use: /)
  expect(await openPullRequest(github, made)).toBe(1)
})

test('a repository has the same id in another state, and a second addition changes only the given fields', async () => {
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const input = { owner: 'acme', name: 'widgets', gitDirectory: made.directory, defaultBranch: 'main' }
  const [one, other] = [await startedGitHub(), await startedGitHub()]
  const first = await one.addRepository(input)
  expect((await other.addRepository(input)).id).toBe(first.id)
  one.setPermission(REPOSITORY, 'jun', 'write')
  const again = await one.addRepository({ ...input, defaultBranch: 'trunk' })
  expect(again).toMatchObject({ id: first.id, defaultBranch: 'trunk', permissions: { jun: 'write' } })
})

test('PL8, AW73: behind a lag, readers see the earlier state, and the current state judges writers', async () => {
  let nowMs = Date.UTC(2026, 10, 29)
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }, { 'a.txt': 'c\n' })
  const [first = '', second = '', third = ''] = made.commits
  const github = await startedGitHub({ now: () => nowMs, lagMs: 2_000 })
  await openPullRequest(github, { ...made, commits: [first, second] })
  nowMs += 60_000
  const octokit = clientOf(github)
  await github.pushHead(REPOSITORY, 1, third)
  const at = { ...AT, pull_number: 1 }
  await octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...at, body: 'text' })
  const head = async () => (await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at)).data.head.sha
  const reviews = async () =>
    (await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', at)).data.length
  expect([await head(), await reviews()]).toEqual([second, 0])
  const again = octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...at, body: 'text' })
  await expect(again).rejects.toMatchObject({ status: 422 })
  nowMs += 2_000
  expect([await head(), await reviews()]).toEqual([third, 1])

  const issue = { ...AT, issue_number: 1 }
  const created = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...issue,
    body: 'one',
  })
  nowMs += 1_000
  const { id } = created.data
  await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
    ...AT,
    comment_id: Number(id),
    body: 'two',
  })
  const bodies = async () =>
    (await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue)).data.map(
      ({ body }) => body,
    )
  expect(await bodies()).toEqual([])
  nowMs += 2_000
  expect(await bodies()).toEqual(['two'])
})

test('the example is the same on every machine, is found again, and has the findings for the lenses', async () => {
  const directory = temporaryDirectory()
  const example = await buildExampleRepository(directory)
  expect(await buildExampleRepository(directory)).toEqual(example)
  expect(await buildExampleRepository(temporaryDirectory())).toEqual({ ...example, gitDirectory: expect.any(String) })
  const commits = [example.base.sha, example.head.sha]
  const { octokit, number } = await withPullRequest({ directory: example.gitDirectory, commits })
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
    ...AT,
    pull_number: number,
  })
  const kinds = new Map(data.map((file) => [file.filename, file.status]))
  expect(Object.fromEntries(kinds)).toMatchObject({
    'src/archive.js': 'added',
    'src/shipping-labels.js': 'renamed',
    'src/old-label-format.js': 'removed',
    '.github/workflows/ci.yml': 'modified',
    'docs/código postal – 우편.md': 'added',
    'docs/archive.png': 'added',
  })
  const secret = new RegExp(`${'AK'}${'IA'}[A-Z2-7]{16}`)
  const patch = data.find((file) => file.filename === 'src/archive.js')?.patch
  expect(patch).toMatch(secret)
  expect(example.body).not.toContain('## How it was tested')
})
