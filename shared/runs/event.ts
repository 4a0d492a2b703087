/** What a delivery asks of the command room: everything that isn't a head to be reviewed. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { repositorySchema } from './run.ts'

const ofPullRequest = {
  repository: repositorySchema,
  number: z.number(),
  /** Identity of the event: the same one twice is written once. */
  cause: z.string(),
  /** ms UTC, by GitHub's clock */
  eventAt: z.number(),
}

const closedEventSchema = z.object({ ...ofPullRequest, kind: z.literal('closed') })
export type ClosedEvent = Stored<typeof closedEventSchema>

/** A comment that is addressed to Muster. */
const commandEventSchema = z.object({
  ...ofPullRequest,
  kind: z.literal('command'),
  commentId: z.number(),
  /** Login of who wrote it. */
  author: z.string(),
  /** The comment's text, cut and redacted. */
  text: z.string(),
  /** Digest of the whole comment: the same id with another text is a conflict (LE15). */
  payloadDigest: z.string(),
})
export type CommandEvent = Stored<typeof commandEventSchema>

export type PullRequestEvent = ClosedEvent | CommandEvent

/** An event as it stands in the ledger. */
const ofRecord = {
  /** ms UTC, by our own clock: when it was recorded. */
  acceptedAt: z.number(),
}
export const recordedEventSchema = z.discriminatedUnion('kind', [
  closedEventSchema.extend(ofRecord),
  commandEventSchema.extend(ofRecord),
])
export type RecordedEvent = Stored<typeof recordedEventSchema>
