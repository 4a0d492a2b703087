/** The rights of callers: the App by its JWT, an installation by its token, and no other caller. */
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { installationId } from '../../../../infra/local/github/identity.ts'
import { APP, clientOf, jwt, makeRepository, openPullRequest, REPOSITORY, startedGitHub } from './support.ts'

const NOW_MS = Date.UTC(2026, 10, 29, 12, 0, 30)
const NOW_SECONDS = NOW_MS / 1_000
const MINUTE_SECONDS = 60

const repository = () => makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })

const GOOD = { iss: APP.id, iat: NOW_SECONDS - MINUTE_SECONDS, exp: NOW_SECONDS + 9 * MINUTE_SECONDS }

async function ask(
  url: string,
  authorization?: string,
): Promise<{ status: number; body: { message: string }; date: string | null }> {
  const answer = await fetch(url, { headers: authorization === undefined ? {} : { authorization } })
  return { status: answer.status, body: (await answer.json()) as { message: string }, date: answer.headers.get('date') }
}

describe('AW82: the App’s JWT', () => {
  const { privateKey: otherKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  test.each([
    ['a good one', jwt(GOOD), 200, undefined],
    ['the App’s id as text', jwt({ ...GOOD, iss: String(APP.id) }), 200, undefined],
    ['exactly ten minutes ahead', jwt({ ...GOOD, exp: NOW_SECONDS + 600 }), 200, undefined],
    ['more than ten minutes ahead', jwt({ ...GOOD, exp: NOW_SECONDS + 601 }), 401, /too far in the future/],
    ['expired', jwt({ ...GOOD, exp: NOW_SECONDS }), 401, /'exp'/],
    ['issued in the future', jwt({ ...GOOD, iat: NOW_SECONDS + 45 }), 401, /'iat'/],
    ['signed by another key', jwt(GOOD, { key: otherKey }), 401, /could not be decoded/],
    ['of another algorithm', jwt(GOOD, { alg: 'none' }), 401, /could not be decoded/],
    ['of another App', jwt({ ...GOOD, iss: 1 }), 404, /Integration not found/],
    ['no JWT at all', 'a.b.c', 401, /could not be decoded/],
  ])('%s', async (_, token, status, message) => {
    const github = await startedGitHub({ now: () => NOW_MS })
    const answer = await ask(`${github.url}/app`, `Bearer ${token}`)
    expect(answer.status).toBe(status)
    if (message !== undefined) expect(answer.body.message).toMatch(message)
    expect(answer.date).toBe(new Date(NOW_MS).toUTCString())
  })
})

describe('tokens', () => {
  async function token(url: string): Promise<{ token: string; expires_at: string }> {
    const tokens = `${url}/app/installations/${installationId('acme')}/access_tokens`
    const answer = await fetch(tokens, { method: 'POST', headers: { authorization: `Bearer ${jwt(GOOD)}` } })
    expect(answer.status).toBe(201)
    return (await answer.json()) as { token: string; expires_at: string }
  }

  test('AW83: a token works for an hour and not a moment longer', async () => {
    let nowMs = NOW_MS
    const github = await startedGitHub({ now: () => nowMs })
    await openPullRequest(github, repository())
    const { token: given, expires_at } = await token(github.url)
    const pull = `${github.url}/repos/${REPOSITORY}/pulls/1`
    nowMs = Date.parse(expires_at) - 1
    expect((await ask(pull, `token ${given}`)).status).toBe(200)
    nowMs += 1
    expect(await ask(pull, `token ${given}`)).toMatchObject({ status: 401, body: { message: 'Bad credentials' } })
  })

  test('a caller without credentials, a wrong token and the App itself may not read a repository', async () => {
    const github = await startedGitHub({ now: () => NOW_MS })
    await openPullRequest(github, repository())
    const pull = `${github.url}/repos/${REPOSITORY}/pulls/1`
    expect((await ask(pull)).status).toBe(401)
    expect((await ask(pull, 'token ghs_wrong')).status).toBe(401)
    expect((await ask(pull, `Bearer ${jwt(GOOD)}`)).status).toBe(401)
  })

  test('an installation of another owner reads public data and writes nothing', async () => {
    const github = await startedGitHub({ now: () => NOW_MS })
    const made = repository()
    await openPullRequest(github, made)
    const other = { owner: 'other', name: 'things', gitDirectory: made.directory, defaultBranch: 'main' }
    await github.addRepository(other)
    const { token: given } = await token(github.url)
    const url = `${github.url}/repos/other/things`
    expect((await ask(`${url}/contents/a.txt`, `token ${given}`)).status).toBe(200)
    const writing = await fetch(`${url}/check-runs`, { method: 'POST', headers: { authorization: `token ${given}` } })
    expect(writing.status).toBe(403)
    await github.addRepository({ ...other, private: true })
    expect((await ask(`${url}/contents/a.txt`, `token ${given}`)).status).toBe(404)
  })
})

test('every answer carries the rest of the hourly budget, a refusal too', async () => {
  const github = await startedGitHub()
  await openPullRequest(github, repository())
  const octokit = clientOf(github)
  const first = await octokit.request(`GET /repos/${REPOSITORY}/pulls/1`)
  expect(first.headers).toMatchObject({
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4999',
    'x-ratelimit-used': '1',
  })
  const refused = await octokit.request(`GET /repos/${REPOSITORY}/pulls/9`).catch((error) => error.response)
  expect(refused).toMatchObject({ status: 404, headers: { 'x-ratelimit-remaining': '4998' } })
})

test('the API also answers under /api/v3, and an address without a route is 404 and remembered', async () => {
  const github = await startedGitHub()
  await openPullRequest(github, repository())
  const octokit = clientOf(github)
  expect((await octokit.request(`GET /api/v3/repos/${REPOSITORY}/pulls/1`)).data.number).toBe(1)
  const missed = await octokit.request(`GET /repos/${REPOSITORY}/milestones`).catch((error) => error.response)
  expect(missed).toMatchObject({ status: 404, data: { message: 'Not Found', status: '404' } })
  const unknown = github.requests().filter(({ route }) => route === null)
  expect(unknown).toEqual([{ method: 'GET', path: `/repos/${REPOSITORY}/milestones`, route: null, status: 404 }])
})
