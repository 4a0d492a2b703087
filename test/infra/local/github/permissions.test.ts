/** Requests without the App's permission, and content created too fast, are refused in GitHub's words. */
import type { Octokit } from '@octokit/core'
import { describe, expect, test } from 'vitest'
import type { AppPermissions } from '../../../../infra/local/github/permissions.ts'
import { AT, clientOf, makeRepository, REPOSITORY, refusalOf, withPullRequest } from './support.ts'

const repository = () => makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })

const COMMENTS = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
const NOT_ACCESSIBLE = { status: 403, message: 'Resource not accessible by integration' }

function comment(octokit: Octokit, body = 'text') {
  return octokit.request(COMMENTS, { ...AT, issue_number: 1, body })
}

/** The stand-in with its repository private. */
async function hidden(permissions?: AppPermissions) {
  const made = repository()
  const prepared = await withPullRequest(made)
  const { github } = prepared
  const known = { owner: 'acme', name: 'widgets', gitDirectory: made.directory, defaultBranch: 'main' }
  await github.addRepository({ ...known, private: true })
  if (permissions !== undefined) github.setAppPermissions(permissions)
  return { ...prepared, head: made.commits[1] ?? '' }
}

describe('the App’s permissions', () => {
  type Doing = (octokit: Octokit, head: string) => Promise<unknown>
  const pull = { ...AT, pull_number: 1 }
  const issue = { ...AT, issue_number: 1 }
  const needs: [string, AppPermissions, AppPermissions, Doing][] = [
    [
      'reading a file',
      { contents: 'read' },
      { checks: 'write', issues: 'write', pull_requests: 'write' },
      (octokit) => octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...AT, path: 'a.txt' }),
    ],
    [
      'reading a pull request',
      { pull_requests: 'read' },
      { contents: 'write', issues: 'write' },
      (octokit) => octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', pull),
    ],
    [
      'reading comments',
      { pull_requests: 'read' },
      { contents: 'write' },
      (octokit) => octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue),
    ],
    [
      'reading check runs',
      { checks: 'read' },
      { contents: 'write', pull_requests: 'write' },
      (octokit, ref) => octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...AT, ref }),
    ],
    ['commenting', { issues: 'write' }, { issues: 'read', contents: 'write' }, (octokit) => comment(octokit)],
    [
      'commenting, as on a pull request',
      { pull_requests: 'write' },
      { pull_requests: 'read' },
      (octokit) => comment(octokit),
    ],
    [
      'reviewing',
      { pull_requests: 'write' },
      { issues: 'write', pull_requests: 'read' },
      (octokit) => octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...pull, body: 'text' }),
    ],
    [
      'a check run',
      { checks: 'write' },
      { checks: 'read', contents: 'write' },
      (octokit, head_sha) =>
        octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...AT, name: 'muster', head_sha }),
    ],
    [
      'a person’s permission',
      { metadata: 'read' },
      { metadata: 'read' },
      (octokit) =>
        octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', { ...AT, username: 'jun' }),
    ],
  ]
  test.each(needs.slice(0, -1))('%s is refused without its permission', async (_, __, without, doing) => {
    const { octokit, head } = await hidden(without)
    expect(await refusalOf(doing(octokit, head))).toMatchObject(NOT_ACCESSIBLE)
  })

  test.each(needs)('%s needs no more than its permission', async (_, enough, __, doing) => {
    const { octokit, head } = await hidden(enough)
    expect(await doing(octokit, head)).toMatchObject({ status: expect.any(Number) })
  })

  test('public data needs no permission for a read, and permits no write', async () => {
    const { github, octokit } = await withPullRequest(repository())
    github.setAppPermissions({})
    expect(
      (await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...AT, pull_number: 1 })).status,
    ).toBe(200)
    expect(await refusalOf(comment(octokit))).toMatchObject(NOT_ACCESSIBLE)
    expect(github.pullRequest(REPOSITORY, 1).issueComments).toEqual([])
  })

  test('a refusal names the sufficient permissions, and a new token the granted permissions', async () => {
    const { github, octokit } = await withPullRequest(repository())
    github.setAppPermissions({ contents: 'read' })
    const refused = await comment(octokit).catch(({ response }) => response)
    expect(refused.headers['x-accepted-github-permissions']).toBe('issues=write; pull_requests=write')
    github.setAppPermissions({ contents: 'read', issues: 'write' })
    expect((await comment(clientOf(github))).status).toBe(201)
  })

  test('a repository hidden from the App is 404, never 403: a name must not give away its existence', async () => {
    const { octokit, github } = await hidden({})
    const other = { ...AT, owner: 'other' }
    const made = repository()
    await github.addRepository({
      owner: 'other',
      name: 'widgets',
      gitDirectory: made.directory,
      defaultBranch: 'main',
      private: true,
    })
    expect(
      await refusalOf(octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...other, path: 'a.txt' })),
    ).toMatchObject({ status: 404 })
    const writing = octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...other, name: 'x', head_sha: 'x' })
    expect(await refusalOf(writing)).toMatchObject({ status: 404 })
  })
})

describe('the limit on creating content', () => {
  const MINUTE_MS = 60_000
  const START_MS = Date.UTC(2026, 10, 29)

  async function limited() {
    let nowMs = START_MS
    const { github, octokit } = await withPullRequest(repository(), { now: () => nowMs, secondaryLimits: true })
    const sayMany = async (count: number) => {
      for (let said = 0; said < count; said += 1) await comment(octokit, String(said))
    }
    const pass = (ms: number) => {
      nowMs += ms
    }
    return { github, octokit, sayMany, pass }
  }

  test('the 81st change of a minute is refused with the seconds to wait, and accepted after the wait', async () => {
    const { octokit, sayMany, pass, github } = await limited()
    await sayMany(40)
    pass(20_000)
    await sayMany(40)
    const refused = await comment(octokit).catch(({ response }) => response)
    expect(refused).toMatchObject({ status: 403, headers: { 'retry-after': '40' } })
    expect(refused.data.message).toMatch(/secondary rate limit/)
    expect(github.pullRequest(REPOSITORY, 1).issueComments).toHaveLength(80)
    const reading = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...AT, pull_number: 1 })
    expect(reading.status).toBe(200)
    pass(39_999)
    expect(await refusalOf(comment(octokit))).toMatchObject({ status: 403 })
    pass(1)
    await sayMany(40)
  })

  test('the 501st change of an hour is refused for the rest of the hour', async () => {
    const { octokit, sayMany, pass } = await limited()
    for (const count of [80, 80, 80, 80, 80, 80, 20]) {
      await sayMany(count)
      pass(MINUTE_MS)
    }
    const refused = await comment(octokit).catch(({ response }) => response)
    expect(refused).toMatchObject({ status: 403, headers: { 'retry-after': String(53 * 60) } })
  })

  test('without limits nothing is refused', async () => {
    const { octokit } = await withPullRequest(repository(), { now: () => START_MS })
    const all = await Promise.all(Array.from({ length: 81 }, (_, index) => comment(octokit, String(index))))
    expect(all.every(({ status }) => status === 201)).toBe(true)
  })
})
