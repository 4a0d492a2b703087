/** The App's list of webhook deliveries, by which what an endpoint missed is found and asked for again. */
import { expect, test } from 'vitest'
import type { GitHubStandIn } from '../../../../infra/local/github/github.ts'
import { repositoryId } from '../../../../infra/local/github/identity.ts'
import {
  APP,
  authorizationOf,
  jwt,
  makeRepository,
  openPullRequest,
  REPOSITORY,
  startedGitHub,
  until,
  webhookEndpoint,
} from './support.ts'

const DAY_MS = 86_400_000
const LIST = '/app/hook/deliveries'

interface Listed {
  /** Every digit of it. */
  id: string
  guid: string
  status: string
  status_code: number
  redelivery: boolean
}

/** A pull request that was opened and edited twice: three deliveries, of which the second failed. */
async function delivered() {
  let nowMs = Date.now()
  const endpoint = await webhookEndpoint(() => (endpoint.received.length === 2 ? 503 : 202))
  const github = await startedGitHub({ webhookUrl: endpoint.url, now: () => nowMs })
  const number = await openPullRequest(github, makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }))
  await ended(github, 1)
  for (const [count, title] of [
    [2, 'Two'],
    [3, 'Three'],
  ] as const) {
    await github.edit(REPOSITORY, number, { title })
    await ended(github, count)
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { github, ...endpoint, pass, ask: appOf(github, () => nowMs) }
}

function ended(github: GitHubStandIn, count: number): Promise<void> {
  return until(github, () => github.deliveries().filter(({ result }) => result !== null).length === count)
}

/** The App itself, by its JWT. Ids are taken from the text: as numbers, several would be the same. */
function appOf(github: GitHubStandIn, now: () => number) {
  return async (path: string, method = 'GET') => {
    const seconds = Math.floor(now() / 1_000)
    const authorization = `Bearer ${jwt({ iss: APP.id, iat: seconds - 60, exp: seconds + 60 })}`
    const answer = await fetch(new URL(path, github.url), { method, headers: { authorization } })
    const text = await answer.text()
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    return { status: answer.status, text, next, json: JSON.parse(text.replaceAll(/"id":(\d{16,})/g, '"id":"$1"')) }
  }
}

test('AW14: what failed is found by its status and redelivered by its id: the same delivery, another attempt', async () => {
  const { github, received, ask } = await delivered()
  const failed: Listed[] = (await ask(`${LIST}?status=failure`)).json
  expect(failed).toMatchObject([{ status_code: 503, redelivery: false }])
  const [{ id, guid } = { id: '', guid: '' }] = failed
  expect(await ask(`${LIST}/${id}/attempts`, 'POST')).toMatchObject({ status: 202, json: {} })
  await ended(github, 4)
  expect(received.map(({ headers }) => headers['x-github-delivery']).filter((sent) => sent === guid)).toHaveLength(2)
  expect(received[3]?.body).toBe(received[1]?.body)
  const all: Listed[] = (await ask(LIST)).json
  expect(all.map(({ status_code, redelivery }) => [status_code, redelivery])).toEqual([
    [202, true],
    [202, false],
    [503, false],
    [202, false],
  ])
  expect(new Set(all.map((delivery) => delivery.id)).size).toBe(4)
})

test('ids are numbers with more digits than a double holds: read as such, several would be one', async () => {
  const { ask } = await delivered()
  const { text, json } = await ask(LIST)
  const ids = (json as Listed[]).map(({ id }) => BigInt(id))
  expect(ids.every((id) => id > 2n ** 53n)).toBe(true)
  expect(new Set((JSON.parse(text) as { id: number }[]).map(({ id }) => id)).size).toBeLessThan(ids.length)
  for (const id of ids) expect((await ask(`${LIST}/${id}`)).json.id).toBe(String(id))
})

test('pages are walked by cursors, newest first, and a new delivery shifts none of them', async () => {
  const { github, ask } = await delivered()
  const whole: Listed[] = (await ask(LIST)).json
  const first = await ask(`${LIST}?per_page=2`)
  await github.edit(REPOSITORY, 1, { title: 'Four' })
  await ended(github, 4)
  const second = await ask(first.next ?? '')
  expect([...first.json, ...second.json]).toEqual(whole)
  expect(second.next).toBeUndefined()
  expect(await ask(`${LIST}?cursor=nonsense`)).toMatchObject({ status: 422 })
})

test('one delivery shows what was sent and what came back', async () => {
  const { github, received, url, ask } = await delivered()
  const [newest]: Listed[] = (await ask(LIST)).json
  const { json } = await ask(`${LIST}/${newest?.id}`)
  expect(json).toMatchObject({
    guid: newest?.guid,
    event: 'pull_request',
    action: 'edited',
    url,
    repository_id: repositoryId('acme', 'widgets'),
    status: 'OK',
    request: { payload: JSON.parse(received[2]?.body ?? ''), headers: { 'x-github-delivery': newest?.guid } },
    response: { payload: 'noted' },
  })
  expect(json.request.headers['x-hub-signature-256']).toBe(received[2]?.headers['x-hub-signature-256'])
  expect(github.deliveries()).toHaveLength(3)
})

test('after three days a delivery is gone, and can not be had again', async () => {
  const { pass, ask } = await delivered()
  const [newest]: Listed[] = (await ask(LIST)).json
  pass(3 * DAY_MS)
  expect((await ask(LIST)).json).toEqual([])
  expect(await ask(`${LIST}/${newest?.id}/attempts`, 'POST')).toMatchObject({ status: 404 })
})

test('an id that never was is 404, and an installation’s token is no key to the list', async () => {
  const { github, ask } = await delivered()
  expect(await ask(`${LIST}/1`)).toMatchObject({ status: 404 })
  const answer = await fetch(`${github.url}${LIST}`, { headers: { authorization: await authorizationOf(github) } })
  expect(answer.status).toBe(401)
})
