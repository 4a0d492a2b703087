/** What a delivery asks of the command room: everything that isn't a head to be reviewed. */
import type { Repository } from './run.ts'

interface EventOfPullRequest {
  readonly repository: Repository
  readonly number: number
  /** Identity of the event: the same one twice is written once. */
  readonly cause: string
  /** ms UTC, by GitHub's clock */
  readonly eventAt: number
}

export interface ClosedEvent extends EventOfPullRequest {
  readonly kind: 'closed'
}

/** A comment that is addressed to Muster. */
export interface CommandEvent extends EventOfPullRequest {
  readonly kind: 'command'
  readonly commentId: number
  /** Login of who wrote it. */
  readonly author: string
  /** The comment's text, cut and redacted. */
  readonly text: string
  /** Digest of the whole comment: the same id with another text is a conflict (LE15). */
  readonly payloadDigest: string
}

export type PullRequestEvent = ClosedEvent | CommandEvent

/** An event as it stands in the ledger. */
export type RecordedEvent = PullRequestEvent & {
  /** ms UTC, by our own clock: when it was recorded. */
  readonly acceptedAt: number
}
