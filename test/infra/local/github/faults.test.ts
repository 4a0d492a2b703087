/** Faults on command: the client's view, and the effect in spite of it. */
import { describe, expect, test } from 'vitest'
import { FAULTS, type Fault, type FaultKind } from '../../../../infra/local/github/faults.ts'
import type { GitHubOptions, GitHubStandIn } from '../../../../infra/local/github/github.ts'
import {
  AT,
  authorizationOf,
  clientOf,
  makeRepository,
  openPullRequest,
  REPOSITORY,
  startedGitHub,
  temporaryDirectory,
  until,
} from './support.ts'

const ROUTE = 'POST /repos/{owner}/{repo}/issues/{n}/comments'
const NOW_MS = Date.UTC(2026, 10, 29)

/** The result of a request: an answer, or the reason for its absence. */
type Seen = { status: number; headers: Headers; text: string } | { status: null; reason: 'reset' | 'given up' }

async function prepared(options: Partial<GitHubOptions> = {}) {
  const github = await startedGitHub({ now: () => NOW_MS, ...options })
  await openPullRequest(github, makeRepository({ 'a.txt': 'a\n' }, { 'a.txt': 'b\n' }))
  const authorization = await authorizationOf(github)
  const said = () => github.pullRequest(REPOSITORY, 1).issueComments.map(({ body }) => body)
  /** Posts a comment; gives up when `enough` resolves. */
  const say = (body: string, enough?: Promise<void>) => ask(github, authorization, body, enough)
  return { github, said, say }
}

async function ask(github: GitHubStandIn, authorization: string, body: string, enough?: Promise<void>): Promise<Seen> {
  const leaving = new AbortController()
  void enough?.then(() => leaving.abort())
  let response: Response
  try {
    response = await fetch(`${github.url}/repos/${REPOSITORY}/issues/1/comments`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ body }),
      signal: leaving.signal,
    })
  } catch (error) {
    if (leaving.signal.aborted) return { status: null, reason: 'given up' }
    expect(error).toMatchObject({ cause: { code: expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/) } })
    return { status: null, reason: 'reset' }
  }
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('each kind', () => {
  const kinds: { [K in FaultKind]: (seen: Seen) => void } = {
    secondary_403: (seen) => {
      expect(seen).toMatchObject({ status: 403, text: expect.stringContaining('secondary rate limit') })
      expect(headerOf(seen, 'retry-after')).toBe('7')
      expect(Number(headerOf(seen, 'x-ratelimit-remaining'))).toBeGreaterThan(0)
    },
    rate_429: (seen) => {
      expect(seen).toMatchObject({ status: 429 })
      expect(headerOf(seen, 'x-ratelimit-remaining')).toBe('0')
      expect(headerOf(seen, 'x-ratelimit-reset')).toBe(String(NOW_MS / 1_000 + 7))
      expect(headerOf(seen, 'retry-after')).toBeNull()
    },
    abuse_422: (seen) => {
      expect(seen).toMatchObject({ status: 422, text: expect.stringContaining('"code":"abuse"') })
      expect(headerOf(seen, 'retry-after')).toBeNull()
    },
    server_500: (seen) => expect(seen).toMatchObject({ status: 500 }),
    bad_gateway_502: (seen) => expect(seen).toMatchObject({ status: 502, text: expect.stringMatching(/^<html>/) }),
    reset: (seen) => expect(seen).toEqual({ status: null, reason: 'reset' }),
    bad_gateway_after: (seen) => expect(seen).toMatchObject({ status: 502 }),
    hang_after: (seen) => expect(seen).toEqual({ status: null, reason: 'given up' }),
    reset_after: (seen) => expect(seen).toEqual({ status: null, reason: 'reset' }),
    truncated_json: (seen) => {
      expect(seen).toMatchObject({ status: 201, text: expect.stringMatching(/^\{"id":/) })
      expect(() => JSON.parse(seen.status === null ? '' : seen.text)).toThrow(SyntaxError)
    },
    late: (seen) => expect(seen).toEqual({ status: null, reason: 'given up' }),
  }

  test.each(Object.entries(kinds))('%s', async (name, check) => {
    const kind = name as FaultKind
    const { github, said, say } = await prepared()
    const failing = github.fail({ route: ROUTE, kind, retryAfterSeconds: 7 })
    const patient = ['hang_after', 'late'].includes(kind) ? failing.spent : undefined
    check(await say('first', patient))
    if (kind === 'late') {
      expect(said()).toEqual([])
      failing.release()
      await until(github, () => said().length > 0)
    }
    expect(said()).toEqual(FAULTS[kind].stores ? ['first'] : [])
    expect(await say('second')).toMatchObject({ status: 201 })
    expect(said().at(-1)).toBe('second')
    expect(github.requests().filter(({ fault }) => fault !== undefined)).toMatchObject([{ fault: kind }])
  })
})

describe('the struck requests', () => {
  const cases: [string, Partial<Fault>, (number | null)[]][] = [
    ['one, if nothing else is said', {}, [500, 201, 201, 201]],
    ['so many', { times: 2 }, [500, 500, 201, 201]],
    ['after so many that go well', { after: 2, times: 1 }, [201, 201, 500, 201]],
    ['without an end', { times: Number.POSITIVE_INFINITY }, [500, 500, 500, 500]],
    ['every route', { route: '*', times: 2 }, [500, 500, 201, 201]],
    ['another route', { route: 'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}' }, [201, 201, 201, 201]],
  ]
  test.each(cases)('%s', async (_, fault, statuses) => {
    const { github, say } = await prepared()
    const failing = github.fail({ route: ROUTE, kind: 'server_500', ...fault })
    const seen: (number | null)[] = []
    for (const body of ['1', '2', '3', '4']) seen.push((await say(body)).status)
    expect(seen).toEqual(statuses)
    expect(failing.struck).toBe(statuses.filter((status) => status === 500).length)
  })

  test('the first injected fault strikes first, and the next once the first is spent', async () => {
    const { github, say } = await prepared()
    github.fail({ route: ROUTE, kind: 'server_500' })
    github.fail({ route: ROUTE, kind: 'bad_gateway_502' })
    const seen = [await say('1'), await say('2'), await say('3')]
    expect(seen.map(({ status }) => status)).toEqual([500, 502, 201])
  })

  test('of many requests at once, exactly the ordered number is struck', async () => {
    const { github, said, say } = await prepared()
    github.fail({ route: ROUTE, kind: 'bad_gateway_502', times: 3 })
    const seen = await Promise.all(Array.from({ length: 10 }, (_, index) => say(String(index))))
    expect(seen.filter(({ status }) => status === 502)).toHaveLength(3)
    expect(said()).toHaveLength(7)
  })

  test('an ended fault strikes no more, and healing ends all faults', async () => {
    const { github, say } = await prepared()
    github.fail({ route: ROUTE, kind: 'server_500', times: 9 }).end()
    expect((await say('1')).status).toBe(201)
    github.fail({ route: ROUTE, kind: 'server_500', times: 9 })
    github.heal()
    expect((await say('2')).status).toBe(201)
  })

  test('a route without an answer is refused: the test would wait for it in vain', async () => {
    const { github } = await prepared()
    expect(() => github.fail({ route: 'POST /repos/{owner}/{repo}/isues', kind: 'reset' })).toThrow(/^unknown_route: /)
  })

  test('also the request for a token can fail', async () => {
    const { github } = await prepared()
    github.fail({ route: 'POST /app/installations/{installation_id}/access_tokens', kind: 'server_500' })
    const call = () =>
      clientOf(github).request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...AT, pull_number: 1 })
    await expect(call()).rejects.toMatchObject({ status: 500 })
    expect((await call()).status).toBe(200)
  })
})

test('IL14: a close of the stand-in drops held requests, without a wait', async () => {
  const directory = temporaryDirectory()
  const { github, say } = await prepared({ directory })
  const failing = github.fail({ route: ROUTE, kind: 'late' })
  const held = say('never')
  await failing.spent
  await github.close()
  expect(await held).toEqual({ status: null, reason: 'reset' })
  const next = await startedGitHub({ directory })
  expect(next.pullRequest(REPOSITORY, 1).issueComments).toEqual([])
})

function headerOf(seen: Seen, name: string): string | null {
  return seen.status === null ? null : seen.headers.get(name)
}
