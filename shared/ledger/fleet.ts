/** The fleet item, its queues and their tickets: the only point of decision about slots. */
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { QUEUES_READ_MAX, QUEUES_SHOWN_MAX, RETENTION_S, TICKETS_SHOWN_MAX } from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'
import { changeLimits, type LimitsChange } from '../fleet/ceiling.ts'
import { FLEET_AT_REST, type Fleet, type Ticket, ticketSchema } from '../fleet/schedule.ts'
import { fleetFrom, fleetUpdate, isWritten } from './fleet-write.ts'
import { conditional, contended, create, due, itemAs, keyOf, type Ledger, read, readItem, readPrefix } from './table.ts'

/** A queue that may have tickets. */
const queueSchema = z.object({
  repository: z.number(),
  installation: z.number(),
  pool: z.string(),
  nonce: z.string(),
})
export type Queue = Stored<typeof queueSchema>

/** The fleet, read consistently; at rest with the default limits before its first grant. */
export async function readFleet(ledger: Ledger): Promise<Fleet> {
  return (await read(ledger, keyOf.fleet(), fleetFrom)) ?? FLEET_AT_REST
}

/**
 * Changes the fleet from `before` to `next` in one conditional write; false if the facts behind the decision have
 * changed. The fleet is due while it holds a slot or a pool is closed. A write never postpones the fleet: a busy fleet
 * would be written more often than swept, and would keep its void slots.
 */
export async function writeFleet(
  ledger: Ledger,
  before: Fleet,
  next: Fleet,
  writer: string,
  now: number,
): Promise<boolean> {
  const key = keyOf.fleet()
  const members = due(key, now + ledger.timings.recheckMs)
  if (before.version === 0) {
    const slots = Object.fromEntries(Object.entries(next.slots).map(([id, slot]) => [id, { ...slot, by: writer }]))
    const created = await create(ledger, { ...key, ...next, slots, version: 1, writer, ...members })
    return created.done
  }
  const update = fleetUpdate(before, next, { writer, due: members })
  if (!update) return true
  const written = await conditional(() =>
    ledger.client.send(
      new UpdateCommand({
        TableName: ledger.table,
        Key: key,
        ...update,
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  )
  return written.done || (written.item !== undefined && isWritten(before, next, writer, written.item))
}

/** Takes a fleet without slots off the `due` index until its next grant. Repeatable. */
export async function restFleet(ledger: Ledger): Promise<void> {
  await conditional(() =>
    ledger.client.send(
      new UpdateCommand({
        TableName: ledger.table,
        Key: keyOf.fleet(),
        UpdateExpression: 'REMOVE #duePk, #dueAt',
        ConditionExpression: 'size(#slots) = :none AND size(#closed) = :none',
        ExpressionAttributeNames: { '#duePk': 'duePk', '#dueAt': 'dueAt', '#slots': 'slots', '#closed': 'closed' },
        ExpressionAttributeValues: { ':none': 0 },
      }),
    ),
  )
}

/**
 * Changes the limits in one conditional write; the caller grants slots afterwards. A conflicting write leads to a
 * second decision (CE4), and a refusal is confirmed by a second read, so no stale view refuses (CE5).
 */
export async function updateLimits(
  ledger: Ledger,
  patch: unknown,
  options: { writer: string; now: number; revision?: number | undefined },
): Promise<LimitsChange> {
  return contended(async () => {
    const before = await readFleet(ledger)
    const change = changeLimits(before.limits, patch, options.revision)
    if (change.kind === 'refused') {
      const { limits } = await readFleet(ledger)
      return (limits.revision ?? 0) === (before.limits.revision ?? 0) ? change : 'again'
    }
    const next = { ...before, limits: change.limits }
    return (await writeFleet(ledger, before, next, options.writer, options.now)) ? change : 'again'
  })
}

/**
 * Puts a ticket, then its queue's marker with a fresh nonce: this order loses no wake-up (IL8). Repeatable. Both expire
 * RETENTION_S after `now` (ms UTC), the marker with the last ticket: by then a ticket is long void, even if no
 * hand-over has met a ticket that landed late.
 */
export async function queueTicket(ledger: Ledger, ticket: Ticket, nonce: string, now = Date.now()): Promise<void> {
  const expiresAt = Math.floor(now / 1000) + RETENTION_S
  await ledger.client.send(
    new PutCommand({ TableName: ledger.table, Item: { ...keyOfTicket(ticket), ...ticket, expiresAt } }),
  )
  const { repository, installation, pool } = ticket
  const marker = { ...keyOf.queue(repository, pool), repository, installation, pool, nonce, expiresAt }
  await ledger.client.send(new PutCommand({ TableName: ledger.table, Item: marker }))
}

/** Queues that may have tickets. */
export async function readQueues(ledger: Ledger): Promise<Queue[]> {
  const all = { pk: keyOf.fleet().pk, prefix: 'WAITING#', limit: QUEUES_READ_MAX }
  return readPrefix(ledger, all, (item) => itemAs(queueSchema, item))
}

/** The first `limit` tickets of a queue, in order of their turn. */
export async function readTickets(ledger: Ledger, queue: Queue, limit: number): Promise<Ticket[]> {
  const { pk } = keyOf.ticket(queue.repository, queue.pool, 0, '', 0)
  return readPrefix(ledger, { pk, prefix: '', limit }, (item) => itemAs(ticketSchema, item))
}

/** True if the review's ticket and its queue's marker both exist: no part of the wait was lost with its writer. */
export async function isQueued(ledger: Ledger, ticket: Ticket): Promise<boolean> {
  const { repository, pool } = ticket
  const keys = [keyOfTicket(ticket), keyOf.queue(repository, pool)]
  const items = await Promise.all(keys.map((key) => readItem(ledger, key)))
  return items.every((item) => item !== undefined)
}

/** The waiting reviews, for people: the first tickets of each queue, bounded; `cut` if there may be more. */
export async function readWaiting(ledger: Ledger): Promise<{ readonly tickets: Ticket[]; readonly cut: boolean }> {
  const queues = await readQueues(ledger)
  const shown = queues.slice(0, QUEUES_SHOWN_MAX)
  const lists = await Promise.all(shown.map((queue) => readTickets(ledger, queue, TICKETS_SHOWN_MAX + 1)))
  return {
    tickets: lists.flatMap((tickets) => tickets.slice(0, TICKETS_SHOWN_MAX)),
    cut: queues.length > shown.length || lists.some(({ length }) => length > TICKETS_SHOWN_MAX),
  }
}

/** Deletes a marker whose queue was seen empty after its nonce was read; kept if a ticket has come since (IL8). */
export async function dropQueue(ledger: Ledger, queue: Queue): Promise<void> {
  await conditional(() =>
    ledger.client.send(
      new DeleteCommand({
        TableName: ledger.table,
        Key: keyOf.queue(queue.repository, queue.pool),
        ConditionExpression: '#nonce = :nonce',
        ExpressionAttributeNames: { '#nonce': 'nonce' },
        ExpressionAttributeValues: { ':nonce': queue.nonce },
      }),
    ),
  )
}

/** Deletes a ticket of one epoch; a ticket of a later epoch has another key (IL9). Repeatable. */
export async function dropTicket(ledger: Ledger, ticket: Ticket): Promise<void> {
  await ledger.client.send(new DeleteCommand({ TableName: ledger.table, Key: keyOfTicket(ticket) }))
}

function keyOfTicket(ticket: Ticket) {
  return keyOf.ticket(ticket.repository, ticket.pool, ticket.turn, ticket.reviewId, ticket.epoch)
}
