import { createPublicKey, verify } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { nameOf } from '../../../shared/base/errors.ts'
import { FILE_BYTES_MAX } from '../../../shared/base/limits.ts'
import { openGitHub } from '../../../shared/github/client.ts'
import type { GitHub } from '../../../shared/github/github.ts'
import { APP_ID, INSTALLATION, json, PRIVATE_KEY, type Script, type Scripted, scripted } from './scripted.ts'

const REPO = { owner: 'acme', name: 'widgets' }
const PULL = {
  number: 5,
  title: 'A title',
  body: null,
  draft: false,
  state: 'open',
  merged: false,
  head: { sha: 'a'.repeat(40), ref: 'topic' },
  base: { sha: 'b'.repeat(40), ref: 'main' },
  user: { login: 'ana', type: 'User' },
  updated_at: '2026-11-29T10:00:00Z',
}

const open: Scripted[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
})

async function gitHub(script: Script, options: { now?: () => number; tokens?: Script; signal?: AbortSignal } = {}) {
  const service = await scripted(script, options.tokens)
  open.push(service)
  const now = options.now === undefined ? {} : { now: options.now }
  const openInstallation = openGitHub({ appId: APP_ID, privateKey: PRIVATE_KEY }, { baseUrl: service.url, ...now })
  return { service, github: openInstallation(INSTALLATION, options.signal), openInstallation }
}

/** The rejection of a call. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.fail('it was expected to fail'),
    (error: unknown) => error,
  )
}

describe('failures are told by body and headers, not by status alone (R4)', () => {
  const cases: {
    title: string
    status: number
    body: unknown
    headers?: Record<string, string>
    expected: Record<string, unknown>
  }[] = [
    {
      title: 'AW77: 403 with retry-after is a limit, and its time is kept',
      status: 403,
      body: { message: 'Forbidden' },
      headers: { 'retry-after': '30' },
      expected: { name: 'retry', code: 'github_throttled', afterMs: 30_000 },
    },
    {
      title: 'AW77: 403 without a sign of a limit is a missing permission',
      status: 403,
      body: { message: 'Resource not accessible by integration' },
      expected: { name: 'dead', code: 'github_refused' },
    },
    {
      title: 'a spent primary limit waits until its reset',
      status: 403,
      body: { message: 'API rate limit exceeded' },
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700' },
      expected: { name: 'retry', code: 'github_throttled', afterMs: 700_000 },
    },
    {
      title: "R4: the secondary limit's sentence alone is a limit, of a minute",
      status: 403,
      body: { message: 'You have exceeded a secondary rate limit. Please wait.' },
      expected: { name: 'retry', code: 'github_throttled', afterMs: 60_000 },
    },
    { title: '429 is a limit', status: 429, body: {}, expected: { name: 'retry', code: 'github_throttled' } },
    {
      title: 'a 422 with code abuse is a limit, with quota left',
      status: 422,
      body: { message: 'Validation Failed', errors: [{ code: 'abuse' }] },
      headers: { 'x-ratelimit-remaining': '4000' },
      expected: { name: 'retry', code: 'github_throttled' },
    },
    { title: 'AW47: 404 is gone', status: 404, body: {}, expected: { name: 'dead', code: 'github_not_found' } },
    { title: 'AW47: 410 is gone', status: 410, body: {}, expected: { name: 'dead', code: 'github_not_found' } },
    { title: '422 is an invalid request', status: 422, body: {}, expected: { name: 'dead', code: 'github_refused' } },
    {
      title: '502 is unreachable',
      status: 502,
      body: '<html>',
      expected: { name: 'retry', code: 'github_unreachable', outcomeUnknown: false },
    },
  ]
  it.each(cases)('$title', async ({ status, body, headers, expected }) => {
    const { github } = await gitHub((_, response) => json(response, status, body, headers), { now: () => 1_000_000 })
    expect(await failureOf(github.pullRequest(REPO, 5))).toMatchObject(expected)
  })
})

describe('writes are asked once, reads twice at most', () => {
  it('AW74: a 502 to a POST is not tried again, and the POST may have happened', async () => {
    const { github, service } = await gitHub((_, response) => json(response, 502, {}))
    const failure = await failureOf(github.createComment(REPO, 5, 'hello'))
    expect(failure).toMatchObject({ name: 'retry', code: 'github_unreachable', outcomeUnknown: true })
    expect(service.asked).toHaveLength(1)
  })

  it('AW70: a POST whose connection breaks may have happened', async () => {
    const { github, service } = await gitHub((_, response) => response.destroy())
    const failure = await failureOf(github.createComment(REPO, 5, 'hello'))
    expect(failure).toMatchObject({ name: 'retry', code: 'github_unreachable', outcomeUnknown: true })
    expect(service.asked).toHaveLength(1)
  })

  it('a GET whose connection breaks once is asked again', async () => {
    let times = 0
    const { github } = await gitHub((_, response) => {
      times += 1
      if (times === 1) response.destroy()
      else json(response, 200, PULL)
    })
    expect((await github.pullRequest(REPO, 5)).number).toBe(5)
  })

  it('a GET answered 502 twice is not asked a third time', async () => {
    const { github, service } = await gitHub((_, response) => json(response, 502, {}))
    expect(nameOf(await failureOf(github.pullRequest(REPO, 5)))).toBe('retry')
    expect(service.asked).toHaveLength(2)
  })
})

describe('an error is never "nothing"', () => {
  it('H2: an answer that stops half-way is unreachable, not an empty list', async () => {
    const { github } = await gitHub((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4000' })
      response.write('[')
      setImmediate(() => response.destroy())
    })
    expect(await failureOf(github.files(REPO, 5))).toMatchObject({ code: 'github_unreachable' })
  })

  it('H2: whole text that is no JSON or no list is unreachable', async () => {
    const { github } = await gitHub((asked, response) => {
      if (asked.path.includes('/files')) response.writeHead(200, { 'content-type': 'application/json' }).end('[{"a":')
      else json(response, 200, { message: 'not a list' })
    })
    expect(await failureOf(github.files(REPO, 5))).toMatchObject({ code: 'github_unreachable' })
    expect(await failureOf(github.labels(REPO, 5))).toMatchObject({ code: 'github_unreachable' })
  })

  it('a list whose second page fails fails as a whole', async () => {
    const { github } = await gitHub((asked, response) => {
      if (asked.path.includes('page=2')) json(response, 404, {})
      else json(response, 200, [{ name: 'bug' }], { link: '<http://x/?per_page=100&page=2>; rel="next"' })
    })
    expect(await failureOf(github.labels(REPO, 5))).toMatchObject({ name: 'dead' })
  })

  it("a 404 to the token's request is a missing installation, not a missing file", async () => {
    const { github } = await gitHub((_, response) => json(response, 404, {}), {
      tokens: (_, response) => json(response, 404, { message: 'Not Found' }),
    })
    const failure = await failureOf(github.textAt(REPO, 'main', '.github/muster.yml'))
    expect(failure).toMatchObject({ name: 'dead', code: 'github_not_found' })
    expect(String(failure)).toContain('access_tokens')
  })

  it('a missing file is absent, a large file is too large, and neither is empty', async () => {
    const size = FILE_BYTES_MAX + 1
    const { github } = await gitHub((asked, response) => {
      if (asked.path.includes('missing')) json(response, 404, { message: 'Not Found' })
      else if (asked.path.includes('none')) json(response, 200, { type: 'file', size, encoding: 'none', content: '' })
      else json(response, 200, { type: 'file', size, encoding: 'base64', content: 'a'.repeat(2 * size) })
    })
    expect(await github.textAt(REPO, 'main', 'missing')).toEqual({ state: 'absent' })
    expect(await github.textAt(REPO, 'main', 'none')).toEqual({ state: 'too_large' })
    expect(await github.textAt(REPO, 'main', 'huge')).toEqual({ state: 'too_large' })
    expect(await github.blob(REPO, 'c'.repeat(40))).toEqual({ state: 'too_large' })
  })

  it('H18: a description of null is empty, and a deleted author is the ghost', async () => {
    const { github } = await gitHub((_, response) => json(response, 200, { ...PULL, user: null }))
    expect(await github.pullRequest(REPO, 5)).toMatchObject({ body: '', author: { login: 'ghost' } })
  })

  it('RC9: a lone surrogate is well-formed on the way in and on the way out', async () => {
    const { github, service } = await gitHub((asked, response) => {
      if (asked.method === 'POST') json(response, 201, { id: 1 })
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(
            `{"id":1,"title":"a\\ud800b"}`.replace(
              '{',
              `{"number":5,"state":"open","merged":false,"head":{"sha":"1","ref":"h"},"base":{"sha":"2","ref":"b"},"user":null,"updated_at":"2026-11-29T10:00:00Z","body":null,`,
            ),
          )
    })
    expect((await github.pullRequest(REPO, 5)).title).toBe('a\ufffdb')
    await github.createComment(REPO, 5, 'x\ud800y')
    expect(JSON.parse(service.asked.at(-1)?.body ?? '{}')).toEqual({ body: 'x\ufffdy' })
  })
})

describe('a list beyond the bound', () => {
  const lastPage = 40
  const answerPage: Script = (asked, response) => {
    const page = Number(/[?&]page=(\d+)/.exec(asked.path)?.[1])
    const link =
      page < lastPage ? `<http://x/?page=${page + 1}>; rel="next", <http://x/?page=${lastPage}>; rel="last"` : ''
    if (asked.path.startsWith('/app')) return json(response, 200, { id: APP_ID, slug: 'muster' })
    if (asked.path.startsWith('/users')) return json(response, 200, { id: 9, login: 'muster[bot]' })
    const row = { id: page, state: 'COMMENTED', body: '', user: { id: 9, login: 'muster[bot]' }, commit_id: '1' }
    return json(response, 200, [row], link === '' ? {} : { link })
  }

  it('of reviews the newest are read, of comments the oldest, and both are cut', async () => {
    const { github } = await gitHub(answerPage)
    const reviews = await github.reviews(REPO, 5)
    expect(reviews.cut).toBe(true)
    expect(reviews.rows.map(({ id }) => id)).toEqual([1, ...Array.from({ length: 29 }, (_, at) => at + 12)])
    const comments = await github.comments(REPO, 5)
    expect(comments.cut).toBe(true)
    expect(comments.rows.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
  })
})

describe('credentials', () => {
  const clock = { ms: Date.parse('2026-11-29T10:00:00Z') }

  it('AW82: the JWT is dated 60 s back, ends 9 min ahead, and is signed by the key', async () => {
    const { github, service } = await gitHub((_, response) => json(response, 200, PULL), { now: () => clock.ms })
    await github.pullRequest(REPO, 5)
    const [head, claims, signature] = (service.tokenRequests[0]?.authorization ?? '')
      .replace(/^bearer /i, '')
      .split('.')
    const nowS = clock.ms / 1000
    expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString())).toEqual({
      iat: nowS - 60,
      exp: nowS + 540,
      iss: String(APP_ID),
    })
    const signed = Buffer.from(`${head}.${claims}`)
    expect(verify('RSA-SHA256', signed, createPublicKey(PRIVATE_KEY), Buffer.from(signature ?? '', 'base64url'))).toBe(
      true,
    )
  })

  it.each([300, -3600])(
    "AW82: a clock that is %i s wrong is corrected once from GitHub's Date header",
    async (aheadS) => {
      const gitHubNowMs = Date.now() - aheadS * 1000
      const tokens: Script = (asked, response) => {
        const claims = JSON.parse(Buffer.from(asked.authorization.split('.')[1] ?? '', 'base64url').toString())
        const nowS = gitHubNowMs / 1000
        const date = new Date(gitHubNowMs).toUTCString()
        if (claims.iat > nowS || claims.exp > nowS + 600 || claims.exp < nowS) {
          const message = "'Expiration time' claim ('exp') is too far in the future"
          return json(response, 401, { message }, { date })
        }
        return json(response, 201, { token: 'ghs_x', expires_at: '2099-01-01T00:00:00Z', permissions: {} }, { date })
      }
      const { github, service } = await gitHub((_, response) => json(response, 200, PULL), { tokens })
      expect((await github.pullRequest(REPO, 5)).number).toBe(5)
      expect(service.tokenRequests).toHaveLength(2)
    },
  )

  it('AW83: a token is shared by all calls and renewed at 55 minutes', async () => {
    const time = { ms: clock.ms }
    const { service, openInstallation } = await gitHub((_, response) => json(response, 200, PULL), {
      now: () => time.ms,
    })
    await openInstallation(INSTALLATION).pullRequest(REPO, 5)
    time.ms += 55 * 60_000 - 1
    await openInstallation(INSTALLATION).pullRequest(REPO, 5)
    expect(service.tokenRequests).toHaveLength(1)
    time.ms += 1
    await openInstallation(INSTALLATION).pullRequest(REPO, 5)
    expect(service.tokenRequests).toHaveLength(2)
    expect(service.asked.at(-1)?.authorization).toBe('token ghs_2')
  })

  it('a new token that GitHub does not know yet is waited for, also by a write', async () => {
    let times = 0
    const { github } = await gitHub((_, response) => {
      times += 1
      json(response, times === 1 ? 401 : 201, times === 1 ? { message: 'Bad credentials' } : { id: 8 })
    })
    expect(await github.createComment(REPO, 5, 'hello')).toBe(8)
  })

  it('AW91: no token, JWT or key is in any error', async () => {
    const secrets = ['ghs_1', PRIVATE_KEY.slice(40, 80)]
    const scripts: Script[] = [
      (_, response) => json(response, 403, { message: 'no' }),
      (_, response) => json(response, 500, { message: 'no' }),
      (_, response) => response.destroy(),
    ]
    for (const script of scripts) {
      const { github, service } = await gitHub(script)
      const failure = await failureOf(github.createComment(REPO, 5, 'hello'))
      const jwt = service.tokenRequests[0]?.authorization.split(' ')[1] ?? 'none'
      const { inspect } = await import('node:util')
      for (const secret of [...secrets, jwt]) expect(inspect(failure, { depth: 9 })).not.toContain(secret)
    }
  })

  it('an invalid key is refused at once, without a quote of the key', () => {
    const broken = 'not-a-key-but-secret'
    try {
      openGitHub({ appId: 1, privateKey: broken }, { baseUrl: 'http://127.0.0.1:1' })
      expect.fail('it was expected to throw')
    } catch (error) {
      expect(error).toMatchObject({ name: 'refused', code: 'secret_missing' })
      expect(String(error)).not.toContain(broken)
    }
  })
})

describe('deadlines', () => {
  it('a call ends when its caller gives up, and a write of that caller may have happened', async () => {
    const giveUp = new AbortController()
    const { github } = await gitHub(() => giveUp.abort(), { signal: giveUp.signal })
    const failure = await failureOf((github as GitHub).createComment(REPO, 5, 'hello'))
    expect(failure).toMatchObject({ name: 'retry', code: 'github_unreachable', outcomeUnknown: true })
  })
})
