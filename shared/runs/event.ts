/** Events for the command room: closings and comments. */
import type { Repository } from './run.ts'

interface EventOfPullRequest {
  readonly repository: Repository
  readonly number: number
  /** Identity of the event: the same cause is written once. */
  readonly cause: string
  /** ms UTC, by GitHub's clock */
  readonly eventAt: number
}

export interface ClosedEvent extends EventOfPullRequest {
  readonly kind: 'closed'
}

/** A comment with a command to Muster. */
export interface CommandEvent extends EventOfPullRequest {
  readonly kind: 'command'
  readonly commentId: number
  /** Login of the comment's author. */
  readonly author: string
  /** The comment's text, cut and redacted. */
  readonly text: string
  /** Digest of the whole comment: the same id with another text is a conflict (LE15). */
  readonly payloadDigest: string
}

export type PullRequestEvent = ClosedEvent | CommandEvent

/** An event as recorded in the ledger. */
export type RecordedEvent = PullRequestEvent & {
  /** The time of the record by our own clock, ms UTC. */
  readonly acceptedAt: number
}
