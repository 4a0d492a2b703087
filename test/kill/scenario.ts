/**
 * The events of a round, from the seed alone: the pull requests, the actions of people, and the moments of the kills.
 */
import { type Random, randomOf } from './random.ts'

/** Content of a head's own file: the findings for the lenses. */
export type HeadContent = 'secret' | 'many_secrets' | 'broken_workflow' | 'clean'

export interface PullRequestPlan {
  /** The branch, which identifies the pull request after a kill. */
  readonly branch: string
  readonly title: string
  readonly body: string
  /** The heads in the order of the pushes. */
  readonly heads: readonly HeadContent[]
}

export type Action =
  | { readonly kind: 'open' }
  | { readonly kind: 'push'; readonly head: number }
  | { readonly kind: 'edit'; readonly body: string }
  | { readonly kind: 'close' }
  /** At another head, if given: a push while the pull request was closed. */
  | { readonly kind: 'reopen'; readonly head: number }
  /** The webhook of its opening, once more under the same id. */
  | { readonly kind: 'redeliver' }

export interface Step {
  /** ms after the step before. */
  readonly afterMs: number
  /** Position in `pullRequests`. */
  readonly pullRequest: number
  readonly action: Action
}

/** The events that the process reports: from the `occurrence`-th on, a kill may come. */
export const LANDMARKS = [
  'start',
  'up',
  'webhook ran',
  'plan ran',
  'admit ran',
  'review ran',
  'conclude ran',
  'post ran',
  'check run created',
  'check run changed',
  'review created, pending',
  'review submitted',
  'comment created',
  'label changed',
] as const
export type Landmark = (typeof LANDMARKS)[number]

/**
 * Landmarks that come more than once in every story; the others may come only once, where a pull request is closed
 * early.
 */
const ONCE_OR_TWICE: readonly Landmark[] = ['webhook ran', 'plan ran', 'admit ran']

export interface Kill {
  readonly landmark: Landmark
  readonly occurrence: number
  /** ms after the landmark. */
  readonly delayMs: number
}

export interface Scenario {
  readonly seed: number
  /** The stories of the pull requests, for people. */
  readonly stories: readonly string[]
  readonly pullRequests: readonly PullRequestPlan[]
  readonly steps: readonly Step[]
  readonly kills: readonly Kill[]
}

type Story = (random: Random) => { heads: number; actions: readonly (readonly [afterMs: number, Action])[] }

/** A review here takes two or three seconds: an action within this time meets the review at work. */
const WHILE_IT_RUNS_MS = 3_000
const AT_ONCE_MS = 60
const BODY = 'Moves parcels sooner.\n\n## How it was tested\n\nBy hand.\n'
const OTHER_BODY = 'Moves parcels sooner, and says why.\n'

const STORIES: Readonly<Record<string, Story>> = {
  opened: () => ({ heads: 1, actions: [] }),
  'pushed twice at once': (random) => ({
    heads: 3,
    actions: [
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'push', head: 1 }],
      [random.between(0, AT_ONCE_MS), { kind: 'push', head: 2 }],
    ],
  }),
  'pushed while it runs': (random) => ({
    heads: 2,
    actions: [[random.between(0, WHILE_IT_RUNS_MS), { kind: 'push', head: 1 }]],
  }),
  'closed while it runs': (random) => ({
    heads: 1,
    actions: [[random.between(0, WHILE_IT_RUNS_MS), { kind: 'close' }]],
  }),
  'closed and reopened': (random) => ({
    heads: 1,
    actions: [
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'close' }],
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'reopen', head: 0 }],
    ],
  }),
  'closed and reopened at another head': (random) => ({
    heads: 2,
    actions: [
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'close' }],
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'reopen', head: 1 }],
    ],
  }),
  'description edited': (random) => ({
    heads: 1,
    actions: [[random.between(0, 2 * WHILE_IT_RUNS_MS), { kind: 'edit', body: OTHER_BODY }]],
  }),
  'edited and pushed at once': (random) => ({
    heads: 2,
    actions: [
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'edit', body: OTHER_BODY }],
      [random.between(0, AT_ONCE_MS), { kind: 'push', head: 1 }],
    ],
  }),
  'webhook redelivered': (random) => ({
    heads: 1,
    actions: [
      [random.between(0, AT_ONCE_MS), { kind: 'redeliver' }],
      [random.between(0, WHILE_IT_RUNS_MS), { kind: 'redeliver' }],
    ],
  }),
}

const CONTENTS: readonly HeadContent[] = ['secret', 'many_secrets', 'broken_workflow', 'clean']
const PULL_REQUESTS = 2

/** ms after the start, or after the stack is up: the time of boot and recovery. */
const RECOVERY_MS_MAX = 3_000
/** ms after a landmark: half of the kills come before the next write is done, the others within the next few. */
const AT_A_LANDMARK_MS_MAX = 15
const AFTER_LANDMARK_MS_MAX = 250

/** The scenario of a seed. Consecutive seeds go through all stories and landmarks in turn. */
export function scenarioOf(seed: number, killCount?: number): Scenario {
  const random = randomOf(seed)
  const names = Object.keys(STORIES)
  const stories = Array.from({ length: PULL_REQUESTS }, (_, index) =>
    index === 0 ? (names[seed % names.length] as string) : random.pick(names),
  )
  const told = stories.map((name) => (STORIES[name] as Story)(random))
  return {
    seed,
    stories,
    pullRequests: told.map(({ heads }, index) => ({
      branch: `change-${index + 1}`,
      title: `Change ${index + 1} of seed ${seed}`,
      body: BODY,
      heads: Array.from({ length: heads }, () => random.pick(CONTENTS)),
    })),
    steps: told.flatMap(({ actions }, pullRequest) =>
      [[random.between(0, AT_ONCE_MS), { kind: 'open' } as Action] as const, ...actions].map(([afterMs, action]) => ({
        afterMs,
        pullRequest,
        action,
      })),
    ),
    kills: Array.from({ length: killCount ?? random.between(1, 2) }, (_, index) =>
      index === 0 ? firstKill(LANDMARKS[seed % LANDMARKS.length] as Landmark, random) : laterKill(random),
    ),
  }
}

function firstKill(landmark: Landmark, random: Random): Kill {
  if (landmark === 'start' || landmark === 'up') return { ...laterKill(random), landmark }
  const occurrence = ONCE_OR_TWICE.includes(landmark) ? random.between(1, 2) : 1
  const delayMs = random.between(0, random.pick([AT_A_LANDMARK_MS_MAX, AFTER_LANDMARK_MS_MAX]))
  return { landmark, occurrence, delayMs }
}

/** The remaining work after a kill depends on the kill, so the next kill counts from certain landmarks. */
function laterKill(random: Random): Kill {
  return { landmark: random.pick(['start', 'up'] as const), occurrence: 1, delayMs: random.between(0, RECOVERY_MS_MAX) }
}
