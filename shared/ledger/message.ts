/**
 * Messages: content that is said once on GitHub. A poster works on a message under its lease; only content that was
 * read back counts as said.
 */
import * as z from 'zod'
import { MESSAGES_PER_RUN_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import { type Repository, repositorySchema } from '../runs/run.ts'
import { change, create, due, type Item, itemAs, keyOf, type Ledger, read, readPrefix } from './table.ts'

const messageSchema = z.object({
  repositoryId: z.number(),
  number: z.number(),
  runId: z.string(),
  attempt: z.number(),
  planKey: z.string(),
  key: z.string(),
  /** Document digest of the payload. */
  document: z.string(),
  /** owed → said; or owed → withdrawing → said | withdrawn where its run is ending; `failed` after too many errors (LE9). */
  state: z.enum(['owed', 'said', 'withdrawing', 'withdrawn', 'failed']),
  series: z.number(),
  round: z.number(),
  /** Errors so far, without refusals and throttles. */
  errors: z.number(),
  owner: z.string().exactOptional(),
  /** ms UTC; 0 without a holder. */
  leaseUntil: z.number(),
  githubId: z.number().exactOptional(),
  /** The pending review or comment made for the message; a read by id doesn't lag as GitHub's lists do. */
  pendingId: z.number().exactOptional(),
  reason: z.string().exactOptional(),
  /**
   * The time of a recheck on GitHub of a settled message, ms UTC: an earlier poster, or an unanswered call, may have
   * left something there by then (IL2, IL14). This time decides; `dueAt` only finds.
   */
  recheckAt: z.number().exactOptional(),
  /** The repository of a reply, which has no run. Absent for a run's messages. */
  repository: repositorySchema.exactOptional(),
})
export type Message = Stored<typeof messageSchema>
export type MessageState = Message['state']

/** Reads a message from an item. */
export function messageFrom(item: Item): Message {
  return itemAs(messageSchema, item)
}

/** How a message ends. */
export type MessageEnd =
  | { readonly state: 'said'; readonly githubId: number }
  | { readonly state: 'withdrawn' }
  | { readonly state: 'failed'; readonly reason: string }

/** The keys of a reply among messages: one reply per comment. */
const REPLY = { planKey: 'reply', key: 'reply' } as const

/** Owes the reply to a comment, once: the first decision holds (I9). */
export async function oweReply(
  ledger: Ledger,
  reply: { repository: Repository; number: number; replyId: string; document: string },
  options: { writer: string; now: number },
): Promise<void> {
  const { repository, number, replyId: runId, document } = reply
  const key = keyOf.message(repository.id, number, runId, REPLY.planKey, REPLY.key)
  const owed: Message = {
    repositoryId: repository.id,
    number,
    runId,
    ...REPLY,
    attempt: 0,
    document,
    state: 'owed',
    series: 0,
    round: 0,
    errors: 0,
    leaseUntil: 0,
    repository,
  }
  const { writer, now } = options
  await create(ledger, { ...key, ...owed, writer, ...due(key, now + ledger.timings.recheckMs) })
}

/** All messages of a run, read consistently. */
export async function readMessages(
  ledger: Ledger,
  run: { repositoryId: number; number: number; runId: string },
): Promise<Message[]> {
  const { pk, sk } = keyOf.message(run.repositoryId, run.number, run.runId, '', '')
  const prefix = sk.slice(0, sk.indexOf('#', 'MESSAGE#'.length) + 1)
  return readPrefix(ledger, { pk, prefix, limit: MESSAGES_PER_RUN_MAX }, messageFrom)
}

/** A message; undefined if the message does not exist. */
export async function readMessage(
  ledger: Ledger,
  name: { repositoryId: number; number: number; runId: string; planKey: string; key: string },
): Promise<Message | undefined> {
  const { repositoryId, number, runId, planKey, key } = name
  return read(ledger, keyOf.message(repositoryId, number, runId, planKey, key), messageFrom)
}

/** Takes the message's lease for `owner` if nobody's is live at `now`; false if somebody's is, or if it changed. */
export async function leaseMessage(ledger: Ledger, message: Message, owner: string, now: number): Promise<boolean> {
  if (message.leaseUntil > now && message.owner !== owner) return false
  const key = keyOfMessage(message)
  const written = await change(ledger, key, {
    set: { owner, leaseUntil: now + ledger.timings.postLeaseMs, ...due(key, now + ledger.timings.postLeaseMs) },
    if: { state: message.state, owner: message.owner, leaseUntil: message.leaseUntil },
  })
  return written.done
}

/** True while `owner` holds the message in the state it had; read consistently right before an effect. */
export async function stillLeased(ledger: Ledger, message: Message, owner: string): Promise<boolean> {
  const current = await readMessage(ledger, message)
  return current?.owner === owner && current.state === message.state
}

/** Remembers the pending review made for a message, before its submission. False if the lease was lost. */
export async function rememberPending(
  ledger: Ledger,
  message: Message,
  owner: string,
  pendingId: number,
): Promise<boolean> {
  if (message.pendingId === pendingId) return true
  const written = await change(ledger, keyOfMessage(message), {
    set: { pendingId },
    if: { state: message.state, owner },
  })
  return written.done
}

/**
 * The end of a message under `owner`'s lease. Nothing more is due for it, unless it is to be looked at a second time at
 * `recheckAt` (ms UTC). False if the lease was lost, or the run withdraws it meanwhile.
 */
export async function settleMessage(
  ledger: Ledger,
  message: Message,
  owner: string,
  end: MessageEnd,
  recheckAt?: number,
): Promise<boolean> {
  return release(ledger, message, owner, { ...end }, recheckAt)
}

/** Records a recheck of a settled message without news. The next recheck is due at `recheckAt` (ms UTC), if given. */
export async function recordRecheck(
  ledger: Ledger,
  message: Message,
  owner: string,
  recheckAt?: number,
): Promise<boolean> {
  return release(ledger, message, owner, {}, recheckAt)
}

/** Gives the message back to be looked at again at `at` (ms UTC); `error` counts toward giving up, `recheckAt` as in Message. */
export async function postponeMessage(
  ledger: Ledger,
  message: Message,
  owner: string,
  options: { at: number; error: boolean; recheckAt?: number | undefined },
): Promise<void> {
  const key = keyOfMessage(message)
  const { at, error, recheckAt } = options
  await change(ledger, key, {
    set: { leaseUntil: 0, errors: message.errors + (error ? 1 : 0), recheckAt, ...due(key, at) },
    remove: ['owner'],
    if: { state: message.state, owner },
  })
}

/** An ending run's message is looked at once more: said if it was submitted, withdrawn if not. Repeatable. */
export async function withdrawMessage(ledger: Ledger, message: Message, now: number): Promise<void> {
  if (message.state !== 'owed') return
  const key = keyOfMessage(message)
  await change(ledger, key, {
    set: { state: 'withdrawing', ...due(key, Math.max(now, message.leaseUntil)) },
    if: { state: 'owed', attempt: message.attempt },
  })
}

async function release(
  ledger: Ledger,
  message: Message,
  owner: string,
  members: Item,
  recheckAt: number | undefined,
): Promise<boolean> {
  const key = keyOfMessage(message)
  const again = recheckAt === undefined ? {} : { recheckAt, ...due(key, recheckAt) }
  const written = await change(ledger, key, {
    set: { ...members, ...again, leaseUntil: 0 },
    remove: recheckAt === undefined ? ['duePk', 'dueAt', 'recheckAt', 'owner'] : ['owner'],
    if: { state: message.state, owner },
  })
  return written.done
}

function keyOfMessage(message: Message) {
  return keyOf.message(message.repositoryId, message.number, message.runId, message.planKey, message.key)
}
