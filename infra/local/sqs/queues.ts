/** The existing queues, by name. One process owns the file, so memory holds the queues too. */
import type { DatabaseSync } from 'node:sqlite'
import { newQueueAttributes, type QueueAttributes, type QueueSettings, queueArn, settingsOf } from './attributes.ts'
import { invalidParameter, sqsError } from './errors.ts'

export interface Queue {
  readonly id: number
  readonly name: string
  readonly attributes: QueueAttributes
  readonly settings: QueueSettings
}

export interface Queues {
  /** Makes the queue, or returns the queue of that name if none of the given attributes differs. */
  create(name: string, given: QueueAttributes): Queue
  /** Refuses an unknown name with `QueueDoesNotExist`. */
  get(name: string): Queue
  find(name: string): Queue | undefined
}

export function openQueues(database: DatabaseSync): Queues {
  const byName = new Map<string, Queue>()
  for (const row of database.prepare('SELECT id, name, attributes FROM queues').all()) {
    const { id, name, attributes } = row as { id: number; name: string; attributes: string }
    remember(id, name, JSON.parse(attributes) as QueueAttributes)
  }
  const insert = database.prepare('INSERT INTO queues (name, attributes) VALUES (?, ?)')

  function remember(id: number, name: string, attributes: QueueAttributes): Queue {
    const queue = { id, name, attributes, settings: settingsOf(attributes) }
    byName.set(name, queue)
    return queue
  }

  return {
    create(name, given) {
      const attributes = newQueueAttributes(name, given)
      const known = byName.get(name)
      if (known) return existing(known, Object.keys(given), attributes)
      const { deadLetter } = settingsOf(attributes)
      if (deadLetter && !byName.has(deadLetter.queueName)) {
        const arn = queueArn(deadLetter.queueName)
        throw invalidParameter('RedrivePolicy', arn, 'Dead letter target does not exist. Create it first.')
      }
      const { lastInsertRowid } = insert.run(name, JSON.stringify(attributes))
      return remember(Number(lastInsertRowid), name, attributes)
    },
    get(name) {
      const queue = byName.get(name)
      if (queue) return queue
      throw sqsError('QueueDoesNotExist', `The specified queue "${name}" does not exist. Create it first.`)
    },
    find: (name) => byName.get(name),
  }
}

/** The existing queue, if its attributes of these names equal the wanted ones. */
export function existing(queue: Queue, names: readonly string[], wanted: QueueAttributes): Queue {
  const different = names.find((name) => queue.attributes[name] !== wanted[name])
  if (different === undefined) return queue
  throw sqsError(
    'QueueNameExists',
    `A queue already exists with the same name and a different value for attribute ${different}. Use that value.`,
  )
}
