/**
 * Checks the traffic of the stand-in against GitHub's own description of its API: a request that GitHub would refuse,
 * or an answer that GitHub would not give, is a violation.
 *
 *     const github = await startGitHub(…)
 *     validating(github)               // from here on
 *     …
 *     assertNoViolations(github)       // before its close
 */
import type { Exchange } from '../../infra/local/github/api.ts'
import type { GitHubStandIn } from '../../infra/local/github/github.ts'
import { describedOperations } from './description.ts'

export interface Violation {
  /** The surprised side: GitHub by the request, or a client by the answer. */
  side: 'request' | 'answer'
  /** E.g. `POST /repos/{owner}/{repo}/check-runs`; the called address where GitHub describes no operation. */
  operation: string
  /** Of the answer. */
  status: number
  /** Each with its position, e.g. `/output/summary must be string`. */
  complaints: readonly string[]
}

export interface Contract {
  violations(): readonly Violation[]
}

export interface Allowances {
  /** Allows refused bad requests, for tests of refusals. Never to be allowed for calls of production code. */
  refusedRequests?: boolean
}

type Observed = Pick<GitHubStandIn, 'observe'>

const contracts = new WeakMap<Observed, Contract>()

/** Watches every later request and answer of a stand-in. A second call returns the same watch. */
export function validating(github: Observed): Contract {
  const known = contracts.get(github)
  if (known !== undefined) return known
  const violations: Violation[] = []
  github.observe((exchange) => violations.push(...violationsOf(exchange)))
  const contract = { violations: () => violations }
  contracts.set(github, contract)
  return contract
}

/**
 * Throws `contract_violated` with every violation until now. Throws `contract_not_watched` without an earlier
 * `validating`.
 */
export function assertNoViolations(github: Observed, { refusedRequests = false }: Allowances = {}): void {
  const contract = contracts.get(github)
  if (contract === undefined) {
    throw new Error(
      'contract_not_watched: nobody watches this stand-in. Call validating(github) right after its start.',
    )
  }
  const refused = ({ side, status }: Violation) => side === 'request' && status >= 400
  const counted = contract.violations().filter((violation) => !(refusedRequests && refused(violation)))
  if (counted.length === 0) return
  const lines = counted.map(
    ({ side, operation, status, complaints }) => `  ${side} of ${operation} (${status}): ${complaints.join('; ')}`,
  )
  throw new Error(`contract_violated: not as GitHub describes it:\n${[...new Set(lines)].join('\n')}`)
}

const JSON_TYPE = /^application\/(?:vnd\.github[^;]*\+)?json\b/

export function violationsOf(exchange: Exchange): Violation[] {
  if (exchange.route !== null && !isApi(exchange.route)) return []
  const operation = exchange.route === null ? undefined : describedOperations.find(exchange.method, exchange.route)
  const { status } = exchange
  if (operation === undefined) {
    const complaints = ['no operation that GitHub describes, or none that is kept in operations.ts']
    return [{ side: 'request', operation: `${exchange.method} ${exchange.path}`, status, complaints }]
  }
  const found: Violation[] = []
  const add = (side: Violation['side'], complaints: readonly string[]) => {
    if (complaints.length > 0) found.push({ side, operation: operation.name, status, complaints })
  }
  const { request, response } = exchange
  const requestJson = jsonOf(request.body)
  add('request', [
    ...operation.complaintsOfQuery(exchange.url.searchParams),
    ...(requestJson === NOT_JSON ? ['the body is no JSON'] : operation.complaintsOfBody(requestJson)),
  ])
  // GitHub's description doesn't cover the answers of faults.
  if (exchange.fault !== undefined) return found
  const contentType = response.headers['content-type']
  const isJson = contentType === undefined || JSON_TYPE.test(contentType)
  const answerJson = isJson ? jsonOf(response.body) : undefined
  const asOtherMedia = !isJson && status < 300 // raw contents and diffs: requested by media type, described in prose only
  if (!asOtherMedia) {
    add('answer', answerJson === NOT_JSON ? ['the body is no JSON'] : operation.complaintsOfAnswer(status, answerJson))
  }
  return found
}

const NOT_JSON = Symbol('not JSON')

/** Undefined for an empty body. */
function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return NOT_JSON
    throw error
  }
}

/** The pages for people are the stand-in's own. */
function isApi(route: string): boolean {
  return /^\/(?:app|installation|repos|users)(?:\/|$)/.test(route)
}
