/** The messages in the queues: order, visibility, group locks, deduplication, retention and dead letters, all in SQL. */
import { randomUUID } from 'node:crypto'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { queueArn, visibilitySecondsMax } from './attributes.ts'
import { transaction } from './database.ts'
import { invalidParameter, sqsError } from './errors.ts'
import type { OutgoingMessage } from './message.ts'
import type { Queue, Queues } from './queues.ts'
import { type Receipt, receiptHandle, receiptOf } from './receipt.ts'

export interface SentMessage {
  readonly id: string
  readonly sequence: number
}

export interface ReceivedMessage {
  readonly seq: number
  readonly id: string
  readonly sent_at: number
  readonly receives: number
  readonly first_received_at: number
  readonly group_id: string
  readonly deduplication_id: string
  readonly source_arn: string | null
  readonly body_md5: string
  readonly body: string
  readonly handle: string
}

export interface Messages {
  /**
   * Stores the message; the end of the process right after the return loses nothing. A duplicate gets the answer of the
   * first send.
   */
  send(queue: Queue, message: OutgoingMessage): SentMessage
  /** Takes up to `max` visible messages, in order; they are in flight for the queue's visibility timeout. */
  receive(queue: Queue, max: number): ReceivedMessage[]
  /** Deletes the message of the handle; nothing to delete is no error. Refuses an expired handle. */
  delete(queue: Queue, handle: string): void
  /**
   * The message becomes visible `seconds` from now. Refused for a message that is not in flight, and beyond 12 hours.
   */
  changeVisibility(queue: Queue, handle: string, seconds: number): void
  counts(queue: Queue): { readonly visible: number; readonly inFlight: number }
  /** Milliseconds until the next message in flight becomes visible; undefined without a message in flight. */
  untilNextVisibleMs(queue: Queue): number | undefined
  /** Makes every message in flight visible, in all queues; receive counts stay. */
  returnFlights(): void
}

interface FlightRow {
  id: string
  receives: number
  visible_at: number
  last_received_at: number
}

/**
 * MessageDeduplicationId in the SQS API reference: five minutes from the first send, whether or not the message still
 * exists.
 */
const deduplicationMs = 5 * 60_000

/** A group with a message in flight is locked. */
const receiveVisible = `UPDATE messages SET visible_at = :until, receives = receives + 1,
  first_received_at = coalesce(first_received_at, :now), last_received_at = :now WHERE seq IN (
  SELECT seq FROM messages AS candidate INDEXED BY messages_order
  WHERE queue = :queue AND group_id IS NOT NULL AND visible_at <= :now AND NOT EXISTS (
    SELECT 1 FROM messages AS other INDEXED BY messages_group
    WHERE other.queue = :queue AND other.group_id = candidate.group_id AND other.visible_at > :now
  ) ORDER BY seq LIMIT :max
) RETURNING *`

export function openMessages(database: DatabaseSync, queues: Queues, now: () => number): Messages {
  const insert = database.prepare(
    `INSERT INTO messages (queue, id, sent_at, visible_at, group_id, deduplication_id, body_md5, body)
     VALUES (:queue, :id, :now, :now, :groupId, :deduplicationId, :bodyMd5, :body)`,
  )
  const forgetDuplicates = database.prepare('DELETE FROM deduplications WHERE queue = ? AND sent_at <= ?')
  const findDuplicate = database.prepare(
    'SELECT message_id AS id, seq AS sequence FROM deduplications WHERE queue = ? AND key = ?',
  )
  const rememberDuplicate = database.prepare(
    'INSERT INTO deduplications (queue, key, message_id, seq, sent_at) VALUES (?, ?, ?, ?, ?)',
  )
  const expire = database.prepare('DELETE FROM messages WHERE queue = ? AND sent_at <= ?')
  const redrive = database.prepare(
    `UPDATE messages SET queue = :target, source_arn = :source, sent_at = :now
     WHERE queue = :queue AND receives > 0 AND receives >= :receivesMax AND visible_at <= :now`,
  )
  const take = database.prepare(receiveVisible)
  const findFlight = database.prepare(
    'SELECT id, receives, visible_at, last_received_at FROM messages WHERE seq = ? AND queue = ?',
  )
  const remove = database.prepare('DELETE FROM messages WHERE seq = ?')
  const setVisible = database.prepare('UPDATE messages SET visible_at = ? WHERE seq = ?')
  const count = database.prepare(
    `SELECT count(*) FILTER (WHERE visible_at <= :now) AS visible, count(*) FILTER (WHERE visible_at > :now) AS inFlight
     FROM messages WHERE queue = :queue`,
  )
  const endFlights = database.prepare('UPDATE messages SET visible_at = :now WHERE visible_at > :now')
  const nextVisible = database.prepare('SELECT min(visible_at) AS at FROM messages WHERE queue = ? AND visible_at > ?')

  /** A message with as many receives as the queue allows moves on instead of another receive. */
  function moveDeadLetters(queue: Queue): void {
    const policy = queue.settings.deadLetter
    const target = policy && queues.find(policy.queueName)
    if (!target) return
    redrive.run({
      queue: queue.id,
      target: target.id,
      source: queueArn(queue.name),
      receivesMax: policy.receivesMax,
      now: now(), // the retention clock starts again, as for every FIFO queue
    })
  }

  /** The message of the receipt: in flight, visible again, or taken by another receive. */
  function findReceived(queue: Queue, receipt: Receipt): FlightRow | undefined {
    // `node:sqlite` knows no types of columns; the statement selects exactly these members.
    const row = findFlight.get(receipt.seq, queue.id) as unknown as FlightRow | undefined
    return row?.id === receipt.messageId ? row : undefined
  }

  return {
    send(queue, message) {
      return transaction(database, () => {
        const key = queue.settings.deduplicationByGroup
          ? JSON.stringify([message.groupId, message.deduplicationId])
          : message.deduplicationId
        forgetDuplicates.run(queue.id, now() - deduplicationMs)
        const first = findDuplicate.get(queue.id, key)
        // The statement selects the members of a sent message.
        if (first) return first as unknown as SentMessage
        const id = randomUUID()
        const values = { queue: queue.id, id, now: now(), ...message } satisfies Record<string, SQLInputValue>
        const sequence = Number(insert.run(values).lastInsertRowid)
        rememberDuplicate.run(queue.id, key, id, sequence, now())
        return { id, sequence }
      })
    },

    receive(queue, max) {
      return transaction(database, () => {
        expire.run(queue.id, now() - queue.settings.retentionSeconds * 1_000)
        moveDeadLetters(queue)
        const until = now() + queue.settings.visibilityTimeoutSeconds * 1_000
        const rows = take.all({ queue: queue.id, now: now(), until, max })
        // The statement returns the members of a received message but its handle.
        return (rows as unknown as Omit<ReceivedMessage, 'handle'>[])
          .sort((a, b) => a.seq - b.seq) // RETURNING promises no order
          .map((row) => ({
            ...row,
            handle: receiptHandle({ queueId: queue.id, seq: row.seq, receives: row.receives, messageId: row.id }),
          }))
      })
    },

    delete(queue, handle) {
      const receipt = receiptOf(queue, handle)
      const row = findReceived(queue, receipt)
      if (!row) return
      if (row.receives !== receipt.receives || row.visible_at <= now()) {
        throw invalidParameter('ReceiptHandle', handle, 'The receipt handle has expired. Receive the message again.')
      }
      remove.run(receipt.seq)
    },

    changeVisibility(queue, handle, seconds) {
      const receipt = receiptOf(queue, handle)
      const row = findReceived(queue, receipt)
      if (!row) {
        throw invalidParameter(
          'ReceiptHandle',
          handle,
          'Message does not exist or is not available for visibility timeout change.',
        )
      }
      if (row.receives !== receipt.receives || row.visible_at <= now()) {
        throw sqsError(
          'MessageNotInflight',
          'The message referred to is not in flight under this handle. Receive it again.',
        )
      }
      const until = now() + seconds * 1_000
      if (seconds < 0 || until - row.last_received_at > visibilitySecondsMax * 1_000) {
        throw invalidParameter(
          'VisibilityTimeout',
          seconds,
          `Total VisibilityTimeout for the message is beyond ${visibilitySecondsMax} seconds.`,
        )
      }
      setVisible.run(until, receipt.seq)
    },

    counts(queue) {
      expire.run(queue.id, now() - queue.settings.retentionSeconds * 1_000)
      return count.get({ queue: queue.id, now: now() }) as { visible: number; inFlight: number }
    },

    untilNextVisibleMs(queue) {
      const at = nextVisible.get(queue.id, now())?.at
      return typeof at === 'number' ? at - now() : undefined
    },

    returnFlights() {
      endFlights.run({ now: now() })
    },
  }
}
