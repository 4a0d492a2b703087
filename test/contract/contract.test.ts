/** The check itself: GitHub's own examples pass, and deviations from GitHub's description fail. */
import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../infra/local/github/api.ts'
import { assertNoViolations, validating, violationsOf } from './contract.ts'
import { describedOperations } from './description.ts'
import { OPERATIONS } from './operations.ts'

/** GitHub's examples that violate GitHub's own schemas; the stand-in's answers are complete there. */
const INCOMPLETE_EXAMPLES = [
  'GET /repos/{owner}/{repo}/collaborators/{username}/permission', // no role name
  'GET /repos/{owner}/{repo}/pulls/{pull_number}', // a team without a type
]

test('exactly the kept operations are found, by name', () => {
  expect(new Set(describedOperations.all().map(({ name }) => name))).toEqual(new Set(OPERATIONS))
})

test('GitHub’s own examples pass, except the known incomplete ones', () => {
  const examples = describedOperations
    .all()
    .flatMap((operation) => operation.examples().map((example) => ({ operation, ...example })))
  expect(examples.length).toBeGreaterThanOrEqual(OPERATIONS.length)
  const failed = examples.filter(
    ({ operation, status, value }) => operation.complaintsOfAnswer(status, value).length > 0,
  )
  expect(new Set(failed.map(({ operation }) => operation.name))).toEqual(new Set(INCOMPLETE_EXAMPLES))
})

interface Sketch {
  method: string
  route: string | null
  query?: string
  body?: unknown
  status?: number
  answer?: unknown
  fault?: string
}

function exchange({ method, route, query = '', body, status = 200, answer, fault }: Sketch): Exchange {
  const bytes = (value: unknown) => Buffer.from(value === undefined ? '' : JSON.stringify(value))
  return {
    method,
    path: '/called',
    route,
    status,
    ...(fault === undefined ? {} : { fault }),
    url: new URL(`http://127.0.0.1/called${query}`),
    request: { headers: {}, body: bytes(body) },
    response: { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: bytes(answer) },
  }
}

const REVIEWS = '/repos/:owner/:repo/pulls/:number/reviews'
const CHECK_RUN = '/repos/:owner/:repo/check-runs/:id'
const REFUSED = { message: 'Not Found', documentation_url: 'https://docs.github.com/rest' }

describe('violations', () => {
  const cases: [string, Sketch, 'request' | 'answer', RegExp][] = [
    [
      'an answer that lacks a field',
      { method: 'GET', route: REVIEWS, answer: [{ id: 1 }] },
      'answer',
      /\/0 must have required property 'node_id'/,
    ],
    ['an answer without its body', { method: 'GET', route: REVIEWS }, 'answer', /must be array/],
    [
      'a status that is not described',
      { method: 'POST', route: REVIEWS, body: {}, status: 201, answer: {} },
      'answer',
      /no answer 201 is described/,
    ],
    [
      'an error without a message',
      { method: 'GET', route: REVIEWS, status: 401, answer: {} },
      'answer',
      /required property 'message'/,
    ],
    [
      'a request with 51 annotations',
      {
        method: 'PATCH',
        route: CHECK_RUN,
        body: { output: { summary: '', annotations: Array.from({ length: 51 }, () => ({})) } },
        status: 404,
        answer: REFUSED,
      },
      'request',
      /\/output\/annotations must NOT have more than 50 items/,
    ],
    [
      'a request with an event that does not exist',
      { method: 'POST', route: REVIEWS, body: { event: 'SHRUG' }, status: 404, answer: REFUSED },
      'request',
      /\/event must be equal to one of the allowed values/,
    ],
    [
      'a page that is no number',
      { method: 'GET', route: REVIEWS, query: '?page=two', answer: [] },
      'request',
      /\/page must be integer/,
    ],
    [
      'a query that is not described',
      { method: 'GET', route: REVIEWS, query: '?perpage=9', answer: [] },
      'request',
      /additional properties \(perpage\)/,
    ],
    ['an address that no route knows', { method: 'GET', route: null, status: 404, answer: REFUSED }, 'request', /none/],
  ]
  test.each(cases)('a violation: %s', (_, sketch, side, complaint) => {
    const violations = violationsOf(exchange(sketch)).filter((violation) => violation.side === side)
    expect(violations.flatMap(({ complaints }) => complaints).join('\n')).toMatch(complaint)
  })

  test('a good exchange, a page, and an answer made or broken by a fault are no violations', () => {
    const good = { method: 'GET', route: REVIEWS, query: '?per_page=100&page=2', answer: [] }
    expect(violationsOf(exchange(good))).toEqual([])
    expect(violationsOf(exchange({ method: 'GET', route: '/:owner/:repo/pull/:number' }))).toEqual([])
    expect(violationsOf(exchange({ method: 'GET', route: REVIEWS, status: 502, fault: 'bad_gateway_502' }))).toEqual([])
  })
})

describe('a watched stand-in', () => {
  function watched(...exchanges: Exchange[]) {
    const listeners: ((exchange: Exchange) => void)[] = []
    const github = { observe: (listener: (exchange: Exchange) => void) => void listeners.push(listener) }
    validating(github)
    validating(github) // a second call of `validating` counts once
    for (const one of exchanges) for (const listener of listeners) listener(one)
    return github
  }

  test('a watched stand-in names every violation once, with its operation', () => {
    const bad = exchange({ method: 'GET', route: REVIEWS, answer: {} })
    expect(() => assertNoViolations(watched(bad, bad))).toThrow(
      /^contract_violated: [^\n]*\n {2}answer of GET \/repos\/{owner}\/{repo}\/pulls\/{pull_number}\/reviews \(200\): must be array$/,
    )
    expect(() => assertNoViolations(watched(exchange({ method: 'GET', route: REVIEWS, answer: [] })))).not.toThrow()
  })

  test('a refused bad request passes only where a test asks for it', () => {
    const refused = exchange({ method: 'POST', route: REVIEWS, body: { event: 'SHRUG' }, status: 422, answer: REFUSED })
    const taken = exchange({ method: 'GET', route: REVIEWS, query: '?page=two', answer: [] })
    expect(() => assertNoViolations(watched(refused))).toThrow(/^contract_violated: /)
    expect(() => assertNoViolations(watched(refused), { refusedRequests: true })).not.toThrow()
    expect(() => assertNoViolations(watched(taken), { refusedRequests: true })).toThrow(/^contract_violated: /)
  })

  test('an unwatched stand-in is an error, not a pass', () => {
    expect(() => assertNoViolations({ observe: () => {} })).toThrow(/^contract_not_watched: /)
  })
})
