/** What invariants see of a simulated world: its services as they really are, what was answered, and what scenarios did. */
import type { PullRequestSnapshot } from '../../../infra/local/github/snapshot.ts'
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Execution } from '../services/machine.ts'
import type { QueuedMessage } from '../services/queues.ts'
import type { Commit, PlainItem } from '../services/table.ts'

export interface View {
  /** ms UTC of the world. */
  readonly now: () => number
  /** Request id of the invocation whose request is taking its effect; asked while a commit is looked at. */
  readonly invocation: () => string | undefined
  readonly table: TableView
  /** The text that is stored under a digest; undefined if there is none. */
  readonly document: (digest: string) => string | undefined
  readonly github: GitHubView
  readonly executions: () => readonly ExecutionView[]
  /** What is in a queue, by its name: the inbox and the outbox, and the dead letters of both. */
  readonly queues: Readonly<Record<string, () => readonly Pick<QueuedMessage, 'id' | 'body'>[]>>
  readonly deadLetters: () => readonly Pick<QueuedMessage, 'id' | 'body'>[]
  /** What was answered to each webhook, oldest first. Grows; never changes. */
  readonly answers: readonly AnswerView[]
  /** Log lines with their fields, as text, oldest first. Grows; never changes. */
  readonly logs: readonly string[]
  readonly history: History
  readonly bounds?: Partial<Bounds>
}

export interface TableView {
  onCommit(look: (commit: Pick<Commit, 'changes'>) => void): void
  items(pk?: string, sk?: string): readonly PlainItem[]
  item(key: { readonly pk: string; readonly sk: string }): PlainItem | undefined
}

export interface GitHubView {
  /** Everything that took effect through the API, oldest first. Grows; never changes. */
  readonly writes: readonly AcceptedWrite[]
  pullRequest(repository: string, number: number): PullRequestSnapshot
  /** Our own login: `muster[bot]`. */
  readonly ourLogin: string
}

export type ExecutionView = Pick<Execution, 'name' | 'status' | 'input'>

export interface AnswerView {
  readonly webhook: {
    readonly event: string
    readonly action: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  readonly status: number
  /** JSON */
  readonly body: string
}

/** What scenarios did. Its lists grow while the world runs. */
export interface History {
  /** Pull requests that were opened, ever. */
  readonly pulls: readonly { readonly repository: string; readonly repositoryId: number; readonly number: number }[]
  /** Pull requests of which somebody cancelled a run. */
  readonly cancels: readonly { readonly repositoryId: number; readonly number: number }[]
  /** Secrets that were planted in diffs, comments and descriptions. */
  readonly canaries: readonly string[]
  /** True once a function was made to crash at every try, so that its messages become dead letters. */
  readonly crashLoop: boolean
}

/** How long what is allowed for a while may last, ms. */
export interface Bounds {
  /** A place is free and somebody waits who may have it: until the sweeper must have found it. */
  readonly idleMs: number
  /** What was on its way when a halt was set may land until then. */
  readonly haltMs: number
  /** A call to GitHub about an older head that was under way at a newer head's first message may land until then. */
  readonly inFlightMs: number
}

/**
 * For actors whose clocks agree. A waiting review is looked at when its grant's time (120 s) is over, at the next sweep
 * (60 s), and again a look (60 s) and a sweep later if the sweeper dies or is refused; three of those in a row are luck
 * that a seed may have. A step of work makes a handful of calls, 10 s each to GitHub and 5 s to AWS, tried three times.
 */
export const BOUNDS: Bounds = { idleMs: 600_000, haltMs: 120_000, inFlightMs: 60_000 }

export function boundsOf({ bounds }: View): Bounds {
  return { ...BOUNDS, ...bounds }
}
