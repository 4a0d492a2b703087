/**
 * The script of one seed: the actions of people and their times, drawn before the start and readable before the run.
 */
import { FAILPOINTS, type Failpoint } from '../../../shared/base/failpoints.ts'
import type { Random } from '../kernel/random.ts'

/** Every action of people and operators. For each kind the simulation counts the seeds that had such an action. */
export const ACTION_KINDS = [
  'open',
  'push',
  'push_twice',
  'push_reordered',
  'force_back',
  'edit',
  'close',
  'reopen',
  'close_and_reopen',
  'draft',
  'ready',
  'redeliver',
  'deliver_twice',
  'command',
  'comment_with_other_text',
  'halt',
  'lift',
  'cancel',
  'retry',
  'limits',
  'disable_concurrency',
  'enable_concurrency',
  'throttle_model',
  'fail_lenses',
  'hang_lens',
  'lag_pull_request',
  'lag_lists',
] as const
export type ActionKind = (typeof ACTION_KINDS)[number]

export interface Action {
  /** ms after the world's first moment. */
  readonly at: number
  readonly kind: ActionKind
  /** The pull request by index, and the choice among the possible targets of the action. */
  readonly pull: number
  readonly choice: number
}

/** The fate of a process at a failpoint: chance alone would hardly ever hit the rare failpoints. */
export interface Accident {
  readonly point: Failpoint
  /** `hangs`: the process stands still until its function's timeout. */
  readonly kind: 'dies' | 'hangs'
  /** How often; above the highest count of tries, the accident is a loop of crashes. */
  readonly times: number
}

export interface Script {
  readonly repositories: readonly { readonly owner: string; readonly name: string; readonly configuration: string }[]
  readonly pulls: readonly { readonly repository: number }[]
  /** The fleet's limits at the beginning. */
  readonly limits: Readonly<Record<string, unknown>>
  /** s; the stack's LEASE_SECONDS. */
  readonly leaseSeconds: number
  /** min; the stack's PATIENCE_MINUTES: shorter than a model may be throttled, or as by default. */
  readonly patienceMinutes: number
  /** From 0, nothing goes wrong, to 1, the worst. */
  readonly fury: number
  readonly accident?: Accident
  readonly actions: readonly Action[]
  /** ms after the world's first moment: from then on nothing goes wrong, and people do nothing. */
  readonly calmAt: number
  /** A file on whose lines GitHub refuses comments until the end of the storm, although the diff shows the lines. */
  readonly unplaceable?: string
}

const LENSES = ['secrets', 'workflows', 'description', 'correctness'] as const
const OWNERS = ['acme', 'globex'] as const
/** Files in which people write. */
export const FILES = ['src/a.ts', 'src/b.ts', 'src/auth.ts'] as const
/** ms of the actions; a storm then rages on for a while. */
const ACTING_MS = 300_000
const AFTERMATH_MS = 60_000
/** In some seeds: as long as five errors of one message take, with their growing waits and a sweep after each (LE9). */
const LASTING_MS = 480_000
const LASTING_CHANCE = 0.15
/**
 * Until a queue's consumer that always crashes has received a message five times, with six minutes between the tries.
 */
const UNTIL_DEAD_MS = 1_800_000
const CONSUMER_POINT = /^(post|command)\./
/**
 * Until a worker that always crashes has lost a review for the fifth time: five leases of at most three minutes, and
 * sweeps.
 */
const UNTIL_LOST_MS = 1_200_000
const WORKER_POINT = /^review\./
/** Failpoints on the way of a throttled review: parking, and the end of patience. */
const PARKED_POINT = /^(park|show_parked|give_up)\./
/** The share of seeds, among those with faults. */
const UNPLACEABLE_CHANCE = 0.2
/** The chance of an action right after the action before: both meet in the same work. */
const AT_ONCE_CHANCE = 0.4
const AT_ONCE_MS = 3_000
/** The share of seeds, among those with faults. */
const ACCIDENT_CHANCE = 0.5
/** Above both the losses that a review may have and the receives of a message. */
const CRASH_LOOP_TIMES = 8
/** Enough to take the worker of each review of a run away, as often as allowed. */
const WORKERS_LOST_TIMES = 24

/** How often a kind is drawn relative to another; 1 if absent. */
const WEIGHTS: Partial<Readonly<Record<ActionKind, number>>> = {
  open: 0,
  push: 4,
  redeliver: 2,
  command: 3,
  lift: 2,
  retry: 2,
  throttle_model: 4,
}
const BAG = ACTION_KINDS.flatMap((kind) => Array.from({ length: WEIGHTS[kind] ?? 1 }, () => kind))

export function scriptOf(random: Random): Script {
  const repositories = Array.from({ length: random.between(1, 2) }, (_, index) => ({
    owner: random.pick(OWNERS),
    name: `widgets-${index + 1}`,
    configuration: configurationOf(random),
  }))
  const pulls = Array.from({ length: random.pick([1, 1, 1, 1, 2]) }, () => ({
    repository: random.below(repositories.length),
  }))
  const opens = pulls.map((_, pull) => ({ at: random.below(20_000), kind: 'open' as const, pull, choice: 0 }))
  const actions: Action[] = [...opens]
  // Each seed has a few kinds only: frequent kinds meet themselves and each other.
  const swarm = new Set(ACTION_KINDS.filter(() => random.chance(0.4)))
  const allowed = BAG.filter((kind) => swarm.has(kind))
  let at = 0
  for (let left = allowed.length === 0 ? 0 : random.below(9); left > 0; left -= 1) {
    at = random.chance(AT_ONCE_CHANCE) ? at + random.below(AT_ONCE_MS) : random.below(ACTING_MS)
    const [kind, pull, choice] = [random.pick(allowed), random.below(pulls.length), random.below(1_000)]
    actions.push({ at, kind, pull, choice })
  }
  actions.sort((a, b) => a.at - b.at)
  const fury = random.pick([0, 0.3, 1, 1])
  const accident = fury > 0 && random.chance(ACCIDENT_CHANCE) ? accidentOf(random) : undefined
  const script: Script = {
    repositories,
    pulls,
    limits: limitsOf(random),
    leaseSeconds: random.pick([30, 60, 180]),
    patienceMinutes: random.pick([1, 60]),
    fury,
    ...(accident ? { accident } : {}),
    actions,
    calmAt: (actions.at(-1)?.at ?? 0) + aftermathMs(random, fury, accident),
    ...(fury > 0 && random.chance(UNPLACEABLE_CHANCE) ? { unplaceable: random.pick(FILES) } : {}),
  }
  return accident && PARKED_POINT.test(accident.point) ? throttledOften(random, script) : script
}

/**
 * Adds the conditions in which reviews wait for a throttled model: several pull requests, repeated throttling, little
 * patience.
 */
function throttledOften(random: Random, script: Script): Script {
  const repositories = script.repositories.map(({ configuration, ...repository }) => ({
    ...repository,
    configuration: configuration.replace('correctness: off', 'correctness: active'),
  }))
  const opened = script.pulls.length
  const pulls = [...script.pulls, ...script.pulls]
  const more = script.pulls.map((_, index) => ({
    at: random.below(20_000),
    kind: 'open' as const,
    pull: opened + index,
    choice: 0,
  }))
  const throttles = pulls.map((_, pull) => ({
    at: random.between(20_000, 60_000),
    kind: 'throttle_model' as const,
    pull,
    choice: 0,
  }))
  const actions = [...script.actions, ...more, ...throttles].sort((one, other) => one.at - other.at)
  return { ...script, repositories, pulls, patienceMinutes: 1, actions, calmAt: script.calmAt + LASTING_MS }
}

/** How long the storm rages on after the last action. */
function aftermathMs(random: Random, fury: number, accident: Accident | undefined): number {
  const ms = AFTERMATH_MS + random.below(AFTERMATH_MS)
  const loopsAt = accident && accident.times >= CRASH_LOOP_TIMES ? accident.point : ''
  if (CONSUMER_POINT.test(loopsAt)) return ms + UNTIL_DEAD_MS
  if (WORKER_POINT.test(loopsAt)) return ms + UNTIL_LOST_MS
  return fury > 0 && random.chance(LASTING_CHANCE) ? ms + LASTING_MS : ms
}

function accidentOf(random: Random): Accident {
  const kind = random.pick(['dies', 'dies', 'dies', 'hangs'] as const)
  const point = random.pick(FAILPOINTS)
  const loop = WORKER_POINT.test(point) ? WORKERS_LOST_TIMES : CRASH_LOOP_TIMES
  return { point, kind, times: random.pick([1, 1, 1, 2, loop]) }
}

/** At least one lens. With fewer rounds, more runs are of analyzers alone. */
function configurationOf(random: Random): string {
  const active = LENSES.filter(() => random.chance(0.5))
  const lenses = active.length === 0 ? [random.pick(LENSES)] : active
  const states = LENSES.map((lens) => `  ${lens}: ${lenses.includes(lens) ? 'active' : 'off'}`)
  return ['lenses:', ...states, 'rounds:', `  ceiling: ${random.pick([3, 3, 2, 1])}`, ''].join('\n')
}

function limitsOf(random: Random): Readonly<Record<string, unknown>> {
  return {
    configured: random.between(1, 4),
    ...(random.chance(0.3) ? { perRepository: random.between(1, 2) } : {}),
    ...(random.chance(0.3) ? { pools: { lambda: { configured: random.between(1, 2) } } } : {}),
  }
}
