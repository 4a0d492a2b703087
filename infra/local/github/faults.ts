/**
 * Faults on command: the next requests to a route fail in one of GitHub's ways. A kind either keeps the request from
 * its route, or lets the request take effect and breaks the answer, so that the client can't know the effect.
 */
import type { Answer, Interruption, Layer, Route } from './http.ts'
import { Refusal } from './http.ts'
import { type InjectionRule, InjectionRules } from './injection-rules.ts'
import { secondaryLimit } from './limits.ts'

/** Every kind of fault; `stores`: the request takes effect all the same. */
export const FAULTS = {
  /** A secondary limit: 403 with `retry-after`. */
  secondary_403: { stores: false },
  /** The primary limit: 429, nothing remaining, `x-ratelimit-reset` holds the end. */
  rate_429: { stores: false },
  /** A limit that replies to reviews have met, with quota left and no telling header. */
  abuse_422: { stores: false },
  server_500: { stores: false },
  bad_gateway_502: { stores: false },
  reset: { stores: false },
  bad_gateway_after: { stores: true },
  hang_after: { stores: true },
  reset_after: { stores: true },
  /** A whole HTTP message, its JSON cut in the middle. */
  truncated_json: { stores: true },
  /** Reaches the route when `release` is called, and not sooner: the client may have given up long before. */
  late: { stores: true },
} as const satisfies Record<string, { stores: boolean }>

export type FaultKind = keyof typeof FAULTS

/** `times`: 1 if absent. */
export interface Fault extends InjectionRule {
  kind: FaultKind
  /** Of `secondary_403` and `rate_429`; 60 if absent. */
  retryAfterSeconds?: number
}

/** A fault after its injection. */
export interface InjectedFault {
  /** The number of struck requests until now. */
  readonly struck: number
  /** Resolves at the last strike, once the struck request's change is made (or, for `late`, held). */
  readonly spent: Promise<void>
  /** Lets the requests that `late` holds reach their route, now and from now on. */
  release(): void
  /** Strikes no more. */
  end(): void
}

export interface Faults {
  layer: Layer
  /** Throws `unknown_route` for a route that the stand-in doesn't have: the fault would never strike. */
  inject(fault: Fault): InjectedFault
  /** Ends every fault. */
  heal(): void
  /** Drops held requests. */
  close(): void
}

const RETRY_AFTER_SECONDS = 60

interface FaultRule extends Fault {
  readonly spent: PromiseWithResolvers<void>
  /** Resolves with whether a held request is still to reach its route. */
  readonly released: PromiseWithResolvers<boolean>
}

export function createFaults(routes: readonly Route[], now: () => number): Faults {
  const rules = new InjectionRules<FaultRule>(routes, 1)

  return {
    async layer(call, next) {
      const active = rules.match(call)
      if (active === undefined) return next(call)
      const { rule } = active
      const last = active.struck === rules.timesOf(active)
      if (last && rule.kind === 'late') rule.spent.resolve()
      try {
        return { ...(await strike(rule, () => next(call), now)), fault: rule.kind }
      } finally {
        if (last) rule.spent.resolve()
      }
    },
    inject(fault) {
      const [spent, released] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
      const active = rules.add({ ...fault, spent, released })
      return Object.assign(active, { spent: spent.promise, release: () => released.resolve(true) })
    },
    heal: () => rules.heal(),
    close() {
      for (const { rule } of rules.all()) rule.released.resolve(false)
    },
  }
}

async function strike(rule: FaultRule, work: () => Promise<Answer>, now: () => number): Promise<Answer> {
  const { kind, retryAfterSeconds = RETRY_AFTER_SECONDS } = rule
  switch (kind) {
    case 'secondary_403':
      return secondaryLimit(retryAfterSeconds).answer()
    case 'rate_429':
      return primaryLimit(Math.ceil(now() / 1_000) + retryAfterSeconds).answer()
    case 'abuse_422':
      return new Refusal(422, 'Validation Failed', [
        { resource: 'PullRequestReviewComment', code: 'abuse', field: 'body', message: 'was submitted too quickly' },
      ]).answer()
    case 'server_500':
      return { status: 500, json: { message: 'Server Error' } }
    case 'bad_gateway_502':
      return badGateway()
    case 'reset':
      return unanswered('reset')
    case 'bad_gateway_after':
      await work()
      return badGateway()
    case 'hang_after':
      return { ...(await work()), interruption: 'never' }
    case 'reset_after':
      return { ...(await work()), interruption: 'reset' }
    case 'truncated_json':
      return { ...(await work()), interruption: 'truncated' }
    case 'late':
      return (await rule.released.promise) ? work() : unanswered('never')
  }
}

/** Status 0: nothing was decided, and nothing will be sent. */
function unanswered(interruption: Interruption): Answer {
  return { status: 0, interruption }
}

/** The proxy before GitHub's API answers in HTML. */
function badGateway(): Answer {
  const bytes = Buffer.from('<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>\n')
  return { status: 502, bytes, contentType: 'text/html; charset=utf-8' }
}

function primaryLimit(resetAtSeconds: number): Refusal {
  return new Refusal(429, 'API rate limit exceeded for installation.', undefined, {
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(resetAtSeconds),
  })
}
