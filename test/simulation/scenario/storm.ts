/**
 * The faults of one seed. Each seed draws a few kinds of faults and a rate for each, so rare meetings of two kinds are
 * tried without the noise of all kinds. The storm ends at a given time, and nothing goes wrong afterwards.
 */
import type { Failpoint } from '../../../shared/base/failpoints.ts'
import type { Sometimes } from '../counters.ts'
import type { Fate, Faults, Sent } from '../kernel/faults.ts'
import type { Random } from '../kernel/random.ts'
import type { IndexLag } from '../services/table/table-data.ts'
import type { WriteAttempt } from '../services/table.ts'
import { brokenAnswer, serverError, throttle, unplaceable } from './refusals.ts'
import type { Script } from './script.ts'

/** The highest chance of each kind to strike a possible target. */
const WORST = {
  request_lost: 0.03,
  request_lost_silently: 0.02,
  answer_lost: 0.03,
  answer_lost_silently: 0.02,
  slow_request: 0.02,
  slow_answer: 0.02,
  paused: 0.02,
  arrives_again: 0.03,
  throttled: 0.05,
  server_error: 0.03,
  broken_after: 0.03,
  killed_before: 0.02,
  killed_after: 0.02,
  killed_at_point: 0.2,
  reviews_unavailable: 1,
  clock_skew: 1,
  cold_start: 0.5,
  transaction_conflict: 0.2,
  index_lag: 0.3,
  redelivery: 0.4,
  webhook_late: 0.3,
  queue_delay: 0.3,
  sweep_missed: 0.4,
  crash_unnamed: 0.5,
  invocation_unheard: 0.1,
} as const
export type FaultKind = keyof typeof WORST
export const FAULT_KINDS = Object.keys(WORST) as readonly FaultKind[]

/** ms; the largest error of a container's clock. Safety comes from the fence alone. */
const SKEW_MAX_MS = 300_000
/** ms on the way, without a fault. */
const WAY_MS = { from: 1, to: 12 } as const
/** ms on the way, if slow: longer than the deadline of a call, up to longer than a lease. */
export const SLOW_MS = { from: 4_000, to: 240_000 } as const
/** GitHub ends a request after 10 s, so none lands much later than our own deadline. */
const SLOW_GITHUB_MS = { from: 4_000, to: 15_000 } as const
/**
 * ms from a call of a function until Step Functions takes the call for failed: before the function begins, up to well
 * into its work.
 */
const UNHEARD_MAX_MS = 20_000
/** The largest delay of an index, ms. */
const INDEX_LAG_MAX_MS = 90_000
/** The longest wait of a queue's message before it is received, ms. */
const QUEUE_DELAY_MAX_MS = 120_000

export interface Storm {
  readonly faults: Faults
  readonly skewMs: () => number
  readonly coldStarts: () => boolean
  readonly forgetsMessage: () => boolean
  readonly queueDelayMs: () => number
  /** True if GitHub's next webhook is delivered late, behind others. */
  readonly delaysWebhook: () => boolean
  readonly missesSweep: () => boolean
  readonly hidesWhoDied: () => boolean
  readonly hearsNothingAfter: () => number | undefined
  readonly conflicts: (attempt: WriteAttempt) => readonly number[]
  readonly indexLag: IndexLag
  /** The fate of the process at the failpoint. */
  readonly fateAt: (point: Failpoint) => 'goes_on' | 'dies' | 'hangs'
  /** Nothing goes wrong from now on; clocks keep their errors. */
  end(): void
}

/** Of a script: `fury` from 0 (nothing goes wrong) to 1. */
export function stormOf(
  random: Random,
  { fury, accident, unplaceable: file }: Pick<Script, 'fury' | 'accident' | 'unplaceable'>,
  saw: (what: Sometimes) => void,
): Storm {
  let isOver = fury === 0
  let accidents = accident?.times ?? 0
  const rates = ratesOf(random, fury)

  /** Draws only if the seed has the kind. */
  function strikes(kind: FaultKind): boolean {
    const rate = isOver ? 0 : rates[kind]
    if (rate === 0 || !random.chance(rate)) return false
    saw(`fault: ${kind}`)
    return true
  }

  return {
    faults: {
      fateOf(sent) {
        const fate = fateOf(random, strikes, sent)
        const isRefused = !isOver && file !== undefined && isReviewMade(sent) && commentsOn(sent, file)
        if (!isRefused || fate.instead) return fate
        saw('event: refused by GitHub with 422')
        return { ...fate, instead: unplaceable() }
      },
    },
    skewMs: () => (strikes('clock_skew') ? random.between(-SKEW_MAX_MS, SKEW_MAX_MS) : 0),
    coldStarts: () => strikes('cold_start'),
    forgetsMessage: () => strikes('redelivery'),
    queueDelayMs: () => (strikes('queue_delay') ? random.below(QUEUE_DELAY_MAX_MS) : random.between(1, 20)),
    delaysWebhook: () => strikes('webhook_late'),
    missesSweep: () => strikes('sweep_missed'),
    hidesWhoDied: () => strikes('crash_unnamed'),
    hearsNothingAfter: () => (strikes('invocation_unheard') ? random.below(UNHEARD_MAX_MS) : undefined),
    conflicts: ({ operation, keys }) =>
      operation === 'TransactWriteItems' && strikes('transaction_conflict') ? [random.below(keys.length)] : [],
    indexLag: () => (strikes('index_lag') ? random.below(INDEX_LAG_MAX_MS) : 0),
    fateAt(point) {
      if (!isOver && point === accident?.point && accidents > 0) {
        accidents -= 1
        return accident.kind
      }
      return strikes('killed_at_point') ? 'dies' : 'goes_on'
    },
    end() {
      isOver = true
    },
  }
}

/** Half of the kinds, each with its own rate; rates span two orders of magnitude. */
function ratesOf(random: Random, fury: number): Readonly<Record<FaultKind, number>> {
  const rates = FAULT_KINDS.map((kind) => {
    const isDrawn = random.chance(0.5)
    const rate = WORST[kind] * fury * random.pick([1, 0.5, 0.2])
    return [kind, isDrawn ? rate : 0] as const
  })
  return Object.fromEntries(rates) as Record<FaultKind, number>
}

/** True if the request creates or submits a review at GitHub. */
function isReviewMade({ service, request }: Sent): boolean {
  return service === 'github' && request.method === 'POST' && request.path.includes('/reviews')
}

function commentsOn({ request }: Sent, file: string): boolean {
  const { comments = [] } = JSON.parse(request.body) as { comments?: readonly { path: string }[] }
  return comments.some(({ path }) => path === file)
}

function fateOf(random: Random, strikes: (kind: FaultKind) => boolean, sent: Sent): Fate {
  const way = () => random.between(WAY_MS.from, WAY_MS.to)
  const fate: Fate = { requestMs: way(), answerMs: way(), survivesSender: random.chance(0.5) }
  if (strikes('killed_before')) return { ...fate, kill: 'before' }
  if (strikes('killed_after')) return { ...fate, kill: 'after' }
  if (strikes('throttled')) return { ...fate, instead: throttle(sent.service, random) }
  if (isReviewMade(sent) && strikes('reviews_unavailable')) return { ...fate, instead: serverError(sent.service) }
  if (strikes('server_error')) return { ...fate, instead: serverError(sent.service) }
  for (const what of ['request', 'answer'] as const) {
    if (strikes(`${what}_lost`)) return { ...fate, lost: { what, silently: false } }
    if (strikes(`${what}_lost_silently`)) return { ...fate, lost: { what, silently: true } }
  }
  if (strikes('broken_after')) return { ...fate, afterwards: brokenAnswer(sent.service) }
  if (strikes('slow_request')) {
    const { from, to } = sent.service === 'github' ? SLOW_GITHUB_MS : SLOW_MS
    return { ...fate, requestMs: random.between(from, to) }
  }
  if (strikes('slow_answer')) return { ...fate, answerMs: random.between(SLOW_MS.from, SLOW_MS.to) }
  if (strikes('paused')) return { ...fate, pauseMs: random.between(SLOW_MS.from, SLOW_MS.to) }
  // The SDK repeats requests to AWS; writes to GitHub are never repeated (AW74).
  if (sent.service !== 'github' && strikes('arrives_again')) return { ...fate, againMs: random.below(SLOW_MS.to) }
  return fate
}
