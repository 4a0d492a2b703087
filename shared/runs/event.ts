/** Events for the command room: closings and comments. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { repositorySchema } from './run.ts'

const ofPullRequest = {
  repository: repositorySchema,
  number: z.number(),
  /** Identity of the event: the same cause is written once. */
  cause: z.string(),
  /** ms UTC, by GitHub's clock */
  eventAt: z.number(),
}

const closedEventSchema = z.object({ ...ofPullRequest, kind: z.literal('closed') })
export type ClosedEvent = Stored<typeof closedEventSchema>

/** A comment with a command to Muster. */
const commandEventSchema = z.object({
  ...ofPullRequest,
  kind: z.literal('command'),
  commentId: z.number(),
  /** Login of the comment's author. */
  author: z.string(),
  /** The comment's text, cut and redacted. */
  text: z.string(),
  /** Digest of the whole comment: the same id with another text is a conflict (LE15). */
  payloadDigest: z.string(),
})
export type CommandEvent = Stored<typeof commandEventSchema>

export type PullRequestEvent = ClosedEvent | CommandEvent

/** An event as recorded in the ledger. */
const ofRecord = {
  /** The time of the record by our own clock, ms UTC. */
  acceptedAt: z.number(),
}
export const recordedEventSchema = z.discriminatedUnion('kind', [
  closedEventSchema.extend(ofRecord),
  commandEventSchema.extend(ofRecord),
])
export type RecordedEvent = Stored<typeof recordedEventSchema>
