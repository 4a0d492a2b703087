/** Each operation is called once and answers as GitHub describes; the close of the stand-in checks the answers. */
import { expect, test } from 'vitest'
import { installationId } from '../../../../infra/local/github/identity.ts'
import { describedOperations } from '../../../contract/description.ts'
import { OPERATIONS } from '../../../contract/operations.ts'
import { APP, authorizationOf, jwt, makeRepository, openPullRequest, startedGitHub } from './support.ts'

test('every operation answers as GitHub describes', async () => {
  const github = await startedGitHub()
  const called = new Set<string>()
  github.observe(({ method, route, status }) => {
    const operation = describedOperations.find(method, route ?? '')
    if (operation !== undefined && status < 300) called.add(operation.name)
  })
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const head = made.commits[1] ?? ''
  await openPullRequest(github, made)
  const token = await authorizationOf(github)
  const seconds = Math.floor(Date.now() / 1_000)
  const app = `Bearer ${jwt({ iss: APP.id, iat: seconds - 60, exp: seconds + 60 })}`

  const ask = async (operation: string, body?: object) => {
    const [method = '', path = ''] = operation.split(' ')
    const answer = await fetch(`${github.url}${path}`, {
      method,
      headers: { authorization: path.startsWith('/app') ? app : token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(answer.status, operation).toBeLessThan(300)
    return JSON.parse((await answer.text()) || 'null')
  }

  await ask('GET /app')
  await ask(`POST /app/installations/${installationId('acme')}/access_tokens`)
  await ask('GET /users/jun')
  const bot = await ask(`GET /users/${encodeURIComponent(`${APP.slug}[bot]`)}`)
  expect(bot).toMatchObject({ login: 'muster-test[bot]', type: 'Bot' })

  const repository = '/repos/acme/widgets'
  await ask(`GET ${repository}/collaborators/jun/permission`)
  await ask(`GET ${repository}/contents/`)
  const file = await ask(`GET ${repository}/contents/a.txt`)
  await ask(`GET ${repository}/git/blobs/${file.sha}`)
  await ask(`GET ${repository}/compare/${made.commits[0]}...${head}`)

  const pull = `${repository}/pulls/1`
  for (const part of ['', '/files']) await ask(`GET ${pull}${part}`)
  const comments = [{ path: 'a.txt', line: 1, body: 'why?' }]
  const pending = await ask(`POST ${pull}/reviews`, { body: 'text', comments })
  await ask(`GET ${pull}/reviews/${pending.id}/comments`)
  await ask(`DELETE ${pull}/reviews/${pending.id}`)
  const review = await ask(`POST ${pull}/reviews`, { body: 'text', comments })
  await ask(`POST ${pull}/reviews/${review.id}/events`, { event: 'REQUEST_CHANGES' })
  await ask(`GET ${pull}/reviews`)

  const issue = `${repository}/issues/1`
  const comment = await ask(`POST ${issue}/comments`, { body: 'one' })
  await ask(`GET ${issue}/comments`)
  await ask(`GET ${repository}/issues/comments/${comment.id}`)
  await ask(`PATCH ${repository}/issues/comments/${comment.id}`, { body: 'two' })
  await ask(`DELETE ${repository}/issues/comments/${comment.id}`)
  await ask(`POST ${issue}/labels`, { labels: ['bug'] })
  await ask(`GET ${issue}/labels`)
  await ask(`DELETE ${issue}/labels/bug`)

  const output = {
    title: 'Found',
    summary: 'One',
    annotations: [{ path: 'a.txt', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'here' }],
  }
  const run = await ask(`POST ${repository}/check-runs`, { name: 'muster', head_sha: head, status: 'in_progress' })
  await ask(`PATCH ${repository}/check-runs/${run.id}`, { status: 'completed', conclusion: 'neutral', output })
  await ask(`GET ${repository}/check-runs/${run.id}/annotations`)
  await ask(`GET ${repository}/commits/${head}/check-runs`)

  expect(called).toEqual(new Set(OPERATIONS))
})
