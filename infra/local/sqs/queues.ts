/** The queues that exist: made, found, changed and removed by name. One process owns them, so they are kept in memory too. */
import type { DatabaseSync } from 'node:sqlite'
import {
  changedAttributes,
  newQueueAttributes,
  type QueueAttributes,
  type QueueSettings,
  queueArn,
  settingsOf,
} from './attributes.ts'
import { transaction } from './database.ts'
import { invalidParameter, sqsError } from './errors.ts'

export interface Queue {
  readonly id: number
  readonly name: string
  readonly attributes: QueueAttributes
  readonly settings: QueueSettings
  /** Milliseconds since 1970, like every time here. */
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface Queues {
  /** Makes the queue, or returns the one of that name if none of the given attributes differs. */
  create(name: string, given: QueueAttributes): Queue
  /** Refuses an unknown name with `QueueDoesNotExist`. */
  get(name: string): Queue
  find(name: string): Queue | undefined
  /** In the order of their names. */
  list(prefix: string): Queue[]
  change(queue: Queue, given: QueueAttributes): void
  /** Removes the queue with all that was in it. */
  remove(queue: Queue): void
  /** Removes the queue's messages; at most once a minute, as in AWS. */
  purge(queue: Queue): void
}

interface QueueRow {
  id: number
  name: string
  attributes: string
  created_at: number
  modified_at: number
}

/** PurgeQueue in the SQS API reference. */
const purgeIntervalMs = 60_000

export function openQueues(database: DatabaseSync, now: () => number): Queues {
  const byName = new Map<string, Queue>()
  const columns = 'id, name, attributes, created_at, modified_at'
  for (const row of database.prepare(`SELECT ${columns} FROM queues`).all()) remember(row as unknown as QueueRow)

  const insert = database.prepare(
    `INSERT INTO queues (name, attributes, created_at, modified_at) VALUES (?, ?, ?, ?) RETURNING ${columns}`,
  )
  const update = database.prepare(`UPDATE queues SET attributes = ?, modified_at = ? WHERE id = ? RETURNING ${columns}`)
  const markPurged = database.prepare(
    'UPDATE queues SET purged_at = :now WHERE id = :id AND coalesce(purged_at, 0) <= :before',
  )
  const removeQueue = database.prepare('DELETE FROM queues WHERE id = ?')
  const removeMessages = database.prepare('DELETE FROM messages WHERE queue = ?')
  const removeDeduplications = database.prepare('DELETE FROM deduplications WHERE queue = ?')

  function remember(row: QueueRow): Queue {
    const attributes = JSON.parse(row.attributes) as QueueAttributes
    const times = { createdAt: row.created_at, modifiedAt: row.modified_at }
    const queue = { id: row.id, name: row.name, attributes, settings: settingsOf(attributes), ...times }
    byName.set(queue.name, queue)
    return queue
  }

  function checkDeadLetters(name: string, settings: QueueSettings): void {
    if (!settings.deadLetter) return
    const target = byName.get(settings.deadLetter.queueName)
    const arn = queueArn(settings.deadLetter.queueName)
    if (!target) throw invalidParameter('RedrivePolicy', arn, 'Dead letter target does not exist. Create it first.')
    if (target.settings.fifo !== settings.fifo) {
      throw invalidParameter(
        'RedrivePolicy',
        arn,
        `Dead letter queue must be same type of queue as the source, ${name}.`,
      )
    }
  }

  function existing(queue: Queue, given: QueueAttributes): Queue {
    for (const [name, value] of Object.entries(given)) {
      if ((queue.attributes[name] ?? '') === value) continue
      throw sqsError(
        'QueueNameExists',
        `A queue already exists with the same name and a different value for attribute ${name}. Use SetQueueAttributes.`,
      )
    }
    return queue
  }

  return {
    create(name, given) {
      const attributes = newQueueAttributes(name, given)
      const known = byName.get(name)
      if (known) {
        const { FifoQueue: _, ...changeable } = given
        return existing(known, changedAttributes(known.settings.fifo, changeable))
      }
      checkDeadLetters(name, settingsOf(attributes))
      return remember(insert.get(name, JSON.stringify(attributes), now(), now()) as unknown as QueueRow)
    },
    get(name) {
      const queue = byName.get(name)
      if (queue) return queue
      throw sqsError('QueueDoesNotExist', `The specified queue "${name}" does not exist. Create it first.`)
    },
    find: (name) => byName.get(name),
    list: (prefix) =>
      [...byName.values()].filter(({ name }) => name.startsWith(prefix)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    change(queue, given) {
      const attributes = { ...queue.attributes, ...changedAttributes(queue.settings.fifo, given) }
      checkDeadLetters(queue.name, settingsOf(attributes))
      remember(update.get(JSON.stringify(attributes), now(), queue.id) as unknown as QueueRow)
    },
    remove(queue) {
      transaction(database, () => {
        for (const statement of [removeMessages, removeDeduplications, removeQueue]) statement.run(queue.id)
      })
      byName.delete(queue.name)
    },
    purge(queue) {
      transaction(database, () => {
        const marked = markPurged.run({ id: queue.id, now: now(), before: now() - purgeIntervalMs })
        if (marked.changes === 0) {
          throw sqsError(
            'PurgeQueueInProgress',
            `Only one PurgeQueue on ${queue.name} is allowed every 60 seconds. Wait.`,
          )
        }
        removeMessages.run(queue.id)
      })
    },
  }
}
