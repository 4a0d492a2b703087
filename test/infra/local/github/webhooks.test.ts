/**
 * Webhooks arrive as GitHub's: signed over the exact bytes, told apart by their id, shaped as its examples, sent once.
 */

import { createRequire } from 'node:module'
import { sign, verify } from '@octokit/webhooks-methods'
import { describe, expect, test } from 'vitest'
import type { IssueCommentCreatedEvent, PullRequestEvent } from '../../../../infra/local/github/payloads.ts'
import {
  APP,
  clientOf,
  makeRepository,
  openPullRequest,
  REPOSITORY,
  type Received,
  startedGitHub,
  until,
  webhookEndpoint,
  withPullRequest,
} from './support.ts'

const repository = () => makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }, { 'a.txt': 'c\n' })

function eventOf(received: Received | undefined): PullRequestEvent {
  return JSON.parse(received?.body ?? '{}')
}

async function delivered() {
  const endpoint = await webhookEndpoint()
  const made = repository()
  const [first = '', second = '', third = ''] = made.commits
  const { github, number } = await withPullRequest({ ...made, commits: [first, second] }, { webhookUrl: endpoint.url })
  const settled = (count: number) =>
    until(github, () => github.deliveries().filter(({ result }) => result !== null).length === count)
  await settled(1)
  return { ...endpoint, github, number, settled, first, second, third }
}

test('AW1: the signature is over the exact bytes of the body', async () => {
  const { received } = await delivered()
  const { headers, body } = received[0] as Received
  expect(await verify(APP.webhookSecret, body, String(headers['x-hub-signature-256']))).toBe(true)
  expect(headers['x-hub-signature-256']).toBe(await sign(APP.webhookSecret, body))
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-github-event': 'pull_request',
    'x-github-delivery': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    'x-github-hook-id': expect.stringMatching(/^\d+$/),
    'x-github-hook-installation-target-type': 'integration',
    'x-github-hook-installation-target-id': String(APP.id),
    'user-agent': expect.stringMatching(/^GitHub-Hookshot\//),
  })
})

test('the webhook of an opened pull request has all fields that readers of such events use', async () => {
  const { received, number, first, second, github } = await delivered()
  const event = eventOf(received[0])
  expect(event).toMatchObject({
    action: 'opened',
    number,
    pull_request: {
      number,
      state: 'open',
      draft: false,
      merged: false,
      title: 'A change',
      user: { login: 'jun', type: 'User' },
      head: { ref: 'feature', sha: second, repo: { full_name: REPOSITORY } },
      base: { ref: 'main', sha: first, repo: { full_name: REPOSITORY } },
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      changed_files: 1,
      commits: 1,
    },
    repository: {
      name: 'widgets',
      full_name: REPOSITORY,
      owner: { login: 'acme' },
      default_branch: 'main',
      private: false,
    },
    installation: { id: expect.any(Number) },
    sender: { login: 'jun' },
  })
  const { data } = await clientOf(github).request(`GET /repos/${REPOSITORY}/pulls/${number}`)
  expect(data).toMatchObject({ id: event.pull_request.id, updated_at: event.pull_request.updated_at })
})

test('the webhook has every field of GitHub’s own example of an opened pull request', async () => {
  const { received } = await delivered()
  const examples: { name: string; examples: object[] }[] = createRequire(import.meta.url)('@octokit/webhooks-examples')
  const all = examples.find(({ name }) => name === 'pull_request')?.examples ?? []
  const newest = all.filter((example) => 'action' in example && example.action === 'opened').at(-1)
  expect(newest).toBeDefined()
  const parts = ['pull_request', 'repository', 'sender', 'pull_request.head', 'pull_request.base', 'pull_request.user']
  for (const path of parts) {
    const keysOf = (event: unknown) =>
      Object.keys(path.split('.').reduce<never>((value, key) => value[key] as never, event as never))
    expect(keysOf(eventOf(received[0])), path).toEqual(expect.arrayContaining(keysOf(newest)))
  }
})

test('each event of a pull request is sent once, with the earlier values', async () => {
  const { github, received, number, settled, first, second, third } = await delivered()
  await github.pushHead(REPOSITORY, number, third)
  await github.pushHead(REPOSITORY, number, third) // is the head already
  await settled(2)
  await github.edit(REPOSITORY, number, { title: 'Another', body: 'Another text', base: { ref: 'stable', sha: first } })
  await settled(3)
  await github.setDraft(REPOSITORY, number)
  await settled(4)
  await github.markReady(REPOSITORY, number)
  await settled(5)
  await github.closePullRequest(REPOSITORY, number)
  await settled(6)
  await github.reopenPullRequest(REPOSITORY, number, second)
  await settled(7)
  await github.closePullRequest(REPOSITORY, number, true)
  await settled(8)
  const [, synchronize, edited, drafted, ready, closed, reopened, merged, ...more] = received.map(eventOf)
  expect(synchronize).toMatchObject({
    action: 'synchronize',
    before: second,
    after: third,
    pull_request: { head: { sha: third } },
  })
  expect(edited).toMatchObject({
    action: 'edited',
    changes: {
      title: { from: 'A change' },
      body: { from: 'What it is for' },
      base: { ref: { from: 'main' }, sha: { from: first } },
    },
    pull_request: { title: 'Another', base: { ref: 'stable' } },
  })
  expect(drafted).toMatchObject({ action: 'converted_to_draft', pull_request: { draft: true } })
  expect(ready).toMatchObject({ action: 'ready_for_review', pull_request: { draft: false } })
  expect(closed).toMatchObject({
    action: 'closed',
    pull_request: { state: 'closed', merged: false, closed_at: expect.any(String) },
  })
  expect(reopened).toMatchObject({
    action: 'reopened',
    pull_request: { state: 'open', closed_at: null, head: { sha: second } },
  })
  expect(merged).toMatchObject({ action: 'closed', pull_request: { merged: true, merged_at: expect.any(String) } })
  expect(more).toEqual([])
  await expect(github.reopenPullRequest(REPOSITORY, number)).rejects.toThrow(/^pull_request_merged: /)
})

test('a person’s comment is sent with its issue and the pull request’s mark, with all fields of GitHub’s own example', async () => {
  const { github, received, number, settled } = await delivered()
  const id = github.comment(REPOSITORY, number, 'mo', '/muster review')
  await settled(2)
  const event: IssueCommentCreatedEvent = JSON.parse(received[1]?.body ?? '{}')
  expect(received[1]?.headers['x-github-event']).toBe('issue_comment')
  expect(event).toMatchObject({
    action: 'created',
    issue: { number, state: 'open', comments: 1, pull_request: { url: expect.stringMatching(/\/pulls\/1$/) } },
    comment: { id, body: '/muster review', user: { login: 'mo', type: 'User' }, performed_via_github_app: null },
    installation: { id: expect.any(Number) },
    sender: { login: 'mo' },
  })
  const examples: { name: string; examples: object[] }[] = createRequire(import.meta.url)('@octokit/webhooks-examples')
  const all = examples.find(({ name }) => name === 'issue_comment')?.examples as IssueCommentCreatedEvent[]
  const example = all.find(({ action }) => action === 'created')
  for (const part of ['issue', 'comment', 'repository', 'sender'] as const) {
    expect(Object.keys(event[part]), part).toEqual(expect.arrayContaining(Object.keys(example?.[part] ?? {})))
  }
  const route = `GET /repos/${REPOSITORY}/issues/comments/${id}`
  expect((await clientOf(github).request(route)).data).toMatchObject({ body: '/muster review', user: { login: 'mo' } })
})

describe('deliveries', () => {
  test('AW14: a failed delivery is recorded, not repeated; a redelivery has the same id and the same bytes', async () => {
    const { url, received } = await webhookEndpoint(() => (received.length === 1 ? 500 : 202))
    const github = await startedGitHub({ webhookUrl: url })
    await openPullRequest(github, repository())
    await until(github, () => github.deliveries()[0]?.result != null)
    const [failed] = github.deliveries()
    expect(failed).toMatchObject({
      action: 'opened',
      redelivery: false,
      result: { status: 500, responseBody: 'noted' },
    })
    await github.redeliver(failed?.guid ?? '')
    expect(github.deliveries()).toMatchObject([
      { guid: failed?.guid },
      { guid: failed?.guid, redelivery: true, result: { status: 202 } },
    ])
    expect(received.map(({ headers }) => headers['x-github-delivery'])).toEqual([failed?.guid, failed?.guid])
    expect(received[0]?.body).toBe(received[1]?.body)
  })

  test('an unreachable endpoint makes a failed delivery, and the pull request is open all the same', async () => {
    const gone = await webhookEndpoint()
    const github = await startedGitHub({ webhookUrl: gone.url.replace(/:\d+$/, ':1') })
    const number = await openPullRequest(github, repository())
    await until(github, () => github.deliveries()[0]?.result != null)
    expect(github.deliveries()).toMatchObject([
      { result: { status: null, reason: expect.stringMatching(/^failed to connect/) } },
    ])
    expect(github.pullRequest(REPOSITORY, number).state).toBe('open')
  })

  test('events before the first endpoint are delivered to the first endpoint', async () => {
    const github = await startedGitHub()
    await openPullRequest(github, repository())
    expect(github.deliveries()).toMatchObject([{ result: null }])
    const { url, received } = await webhookEndpoint()
    github.setWebhookUrl(url)
    await until(github, () => github.deliveries()[0]?.result != null)
    expect(received).toHaveLength(1)
  })

  test('a hanging endpoint delays no other delivery', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<number>()
    const { url, received } = await webhookEndpoint(() => (received.length === 1 ? released : 202))
    const github = await startedGitHub({ webhookUrl: url })
    const number = await openPullRequest(github, repository())
    await github.edit(REPOSITORY, number, { title: 'Another' })
    await until(github, () => github.deliveries().some(({ result }) => result?.status === 202))
    expect(github.deliveries().filter(({ result }) => result === null)).toHaveLength(1)
    release(202)
  })
})
