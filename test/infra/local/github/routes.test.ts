/** Every operation is called once and answers as GitHub describes it; that it does is checked when the stand-in closes. */
import { expect, test } from 'vitest'
import { describedOperations } from '../../../contract/description.ts'
import { OPERATIONS } from '../../../contract/operations.ts'
import {
  APP,
  authorizationOf,
  jwt,
  makeRepository,
  openPullRequest,
  startedGitHub,
  until,
  webhookEndpoint,
} from './support.ts'

test('every operation answers as GitHub describes it', async () => {
  const { url } = await webhookEndpoint()
  const github = await startedGitHub({ webhookUrl: url })
  const called = new Set<string>()
  github.observe(({ method, route, status }) => {
    const operation = describedOperations.find(method, route ?? '')
    if (operation !== undefined && status < 300) called.add(operation.name)
  })
  const made = makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' })
  const head = made.commits[1] ?? ''
  await openPullRequest(github, made)
  await until(github, () => github.deliveries()[0]?.result != null)
  const token = await authorizationOf(github)
  const seconds = Math.floor(Date.now() / 1_000)
  const app = `Bearer ${jwt({ iss: APP.id, iat: seconds - 60, exp: seconds + 60 })}`

  // Text and not JSON where ids are beyond 2⁵³.
  const text = async (operation: string, body?: object): Promise<string> => {
    const [method = '', path = ''] = operation.split(' ')
    const authorization = path.startsWith('/app') || path.endsWith('/installation') ? app : token
    const answer = await fetch(`${github.url}${path}`, {
      method,
      headers: { authorization },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    expect(answer.status, operation).toBeLessThan(300)
    return answer.text()
  }
  const ask = async (operation: string, body?: object) => JSON.parse((await text(operation, body)) || 'null')

  await ask('GET /app')
  const delivery = /"id":(\d+)/.exec(await text('GET /app/hook/deliveries'))?.[1]
  await text(`GET /app/hook/deliveries/${delivery}`)
  await text(`POST /app/hook/deliveries/${delivery}/attempts`)
  const [installation] = await ask('GET /app/installations')
  await ask(`GET /app/installations/${installation.id}`)
  await ask(`POST /app/installations/${installation.id}/access_tokens`)
  await ask('GET /installation/repositories')
  await ask('GET /users/jun')
  const bot = await ask(`GET /users/${encodeURIComponent(`${APP.slug}[bot]`)}`)
  expect(bot).toMatchObject({ login: 'muster-test[bot]', type: 'Bot' })

  const repository = '/repos/acme/widgets'
  await ask(`GET ${repository}`)
  await ask(`GET ${repository}/installation`)
  await ask(`GET ${repository}/collaborators/jun/permission`)
  await ask(`GET ${repository}/contents/`)
  await ask(`GET ${repository}/contents/a.txt`)
  const commit = await ask(`GET ${repository}/git/commits/${head}`)
  const tree = await ask(`GET ${repository}/git/trees/${commit.tree.sha}`)
  await ask(`GET ${repository}/git/blobs/${tree.tree[0].sha}`)
  await ask(`GET ${repository}/commits/${head}`)
  await ask(`GET ${repository}/compare/${made.commits[0]}...${head}`)

  const pull = `${repository}/pulls/1`
  await ask(`GET ${repository}/pulls`)
  for (const part of ['', '/files', '/commits']) await ask(`GET ${pull}${part}`)
  const comments = [{ path: 'a.txt', line: 1, body: 'why?' }]
  const pending = await ask(`POST ${pull}/reviews`, { body: 'text', comments })
  await ask(`GET ${pull}/reviews/${pending.id}`)
  await ask(`GET ${pull}/reviews/${pending.id}/comments`)
  await ask(`DELETE ${pull}/reviews/${pending.id}`)
  const review = await ask(`POST ${pull}/reviews`, { body: 'text', comments })
  await ask(`POST ${pull}/reviews/${review.id}/events`, { event: 'REQUEST_CHANGES' })
  await ask(`PUT ${pull}/reviews/${review.id}`, { body: 'another text' })
  const [said] = await ask(`GET ${pull}/comments`)
  await ask(`POST ${pull}/comments/${said.id}/replies`, { body: 'because' })
  await ask(`GET ${repository}/pulls/comments/${said.id}`)
  await ask(`PUT ${pull}/reviews/${review.id}/dismissals`, { message: 'fixed' })
  await ask(`GET ${pull}/reviews`)

  const issue = `${repository}/issues/1`
  const comment = await ask(`POST ${issue}/comments`, { body: 'one' })
  await ask(`GET ${issue}/comments`)
  await ask(`GET ${repository}/issues/comments/${comment.id}`)
  await ask(`PATCH ${repository}/issues/comments/${comment.id}`, { body: 'two' })
  await ask(`DELETE ${repository}/issues/comments/${comment.id}`)
  await ask(`POST ${issue}/labels`, { labels: ['muster: checking'] })
  await ask(`PUT ${issue}/labels`, { labels: ['bug', 'other'] })
  await ask(`GET ${issue}/labels`)
  await ask(`DELETE ${issue}/labels/bug`)
  await ask(`DELETE ${issue}/labels`)

  const output = {
    title: 'Found',
    summary: 'One',
    annotations: [{ path: 'a.txt', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'here' }],
  }
  const run = await ask(`POST ${repository}/check-runs`, { name: 'muster', head_sha: head, status: 'in_progress' })
  await ask(`PATCH ${repository}/check-runs/${run.id}`, { status: 'completed', conclusion: 'neutral', output })
  await ask(`GET ${repository}/check-runs/${run.id}`)
  await ask(`GET ${repository}/check-runs/${run.id}/annotations`)
  await ask(`GET ${repository}/commits/${head}/check-runs`)

  expect(called).toEqual(new Set(OPERATIONS))
})
