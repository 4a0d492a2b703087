/**
 * The view of invariants on a simulated world: the true state of its services, the answers, and the deeds of scenarios.
 */
import type { PullRequestSnapshot } from '../../../infra/local/github/snapshot.ts'
import type { AcceptedWrite } from '../services/github/writes.ts'
import type { Execution } from '../services/machine.ts'
import type { QueuedMessage } from '../services/queues.ts'
import type { Commit, PlainItem } from '../services/table.ts'

export interface View {
  /** ms UTC of the world. */
  readonly now: () => number
  /** Request id of the invocation whose request takes effect at the moment of a commit. */
  readonly invocation: () => string | undefined
  readonly table: TableView
  /** The text of a digest; undefined for an unknown digest. */
  readonly document: (digest: string) => string | undefined
  readonly github: GitHubView
  readonly executions: () => readonly ExecutionView[]
  /** Messages by queue: the inbox, the outbox, and the dead letters of both. */
  readonly queues: Readonly<Record<string, () => readonly Pick<QueuedMessage, 'id' | 'body'>[]>>
  readonly deadLetters: () => readonly Pick<QueuedMessage, 'id' | 'body'>[]
  /** The answer to each webhook, oldest first. Grows; never changes. */
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
  /** Every write through the API that took effect, oldest first. Grows; never changes. */
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

/** The deeds of scenarios. The lists grow while the world runs. */
export interface History {
  /** Every pull request ever opened. */
  readonly pulls: readonly { readonly repository: string; readonly repositoryId: number; readonly number: number }[]
  /** Pull requests with a run that a person cancelled. */
  readonly cancels: readonly { readonly repositoryId: number; readonly number: number }[]
  /** Secrets planted in diffs, comments and descriptions. */
  readonly canaries: readonly string[]
  /** True if a function crashes at every try, so that its messages become dead letters. */
  readonly crashLoop: boolean
}

/** How long a temporary exception may last, ms. */
export interface Bounds {
  /** A free slot may idle beside an allowed ticket until the sweeper must have come. */
  readonly idleMs: number
  /** A call under way at the beginning of a halt may land until then. */
  readonly haltMs: number
  /** A call to GitHub about an older head, under way at the first message of a newer head, may land until then. */
  readonly inFlightMs: number
}

/**
 * For actors whose clocks agree. A waiting review is looked at when its grant's time (120 s) is over, at the next sweep
 * (60 s), and again a look (60 s) and a sweep later if the sweeper dies or is refused; three such failures in a row are
 * bad luck within the reach of a seed. A step of work makes a handful of calls, 10 s each to GitHub and 5 s to AWS,
 * tried three times.
 */
export const BOUNDS: Bounds = { idleMs: 600_000, haltMs: 120_000, inFlightMs: 60_000 }

export function boundsOf({ bounds }: View): Bounds {
  return { ...BOUNDS, ...bounds }
}
