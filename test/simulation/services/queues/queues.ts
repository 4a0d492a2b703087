/** The queues that exist, in memory. */
import {
  changedAttributes,
  newQueueAttributes,
  type QueueAttributes,
  queueArn,
  settingsOf,
} from '../../../../infra/local/sqs/attributes.ts'
import { invalidParameter, sqsError } from '../../../../infra/local/sqs/errors.ts'
import type { Queue, Queues } from '../../../../infra/local/sqs/queues.ts'
import type { WorldClock } from '../service.ts'

const PURGE_INTERVAL_MS = 60_000 // PurgeQueue in the SQS API reference

/** `forget` is told of a queue whose messages are to go. */
export function memoryQueues(now: WorldClock, forget: (queue: Queue) => void): Queues {
  const byName = new Map<string, Queue>()
  const purgedAt = new Map<number, number>()
  let made = 0

  function remember(id: number, name: string, attributes: QueueAttributes, createdAt: number): Queue {
    const settings = settingsOf(attributes)
    if (settings.deadLetter) {
      const target = byName.get(settings.deadLetter.queueName)
      if (target?.settings.fifo !== settings.fifo) {
        const arn = queueArn(settings.deadLetter.queueName)
        throw invalidParameter('RedrivePolicy', arn, `There must be a dead-letter queue of the same type as ${name}.`)
      }
    }
    const queue = { id, name, attributes, settings, createdAt, modifiedAt: now() }
    byName.set(name, queue)
    return queue
  }

  function existing(queue: Queue, given: QueueAttributes): Queue {
    const { FifoQueue: _, ...changeable } = given
    for (const [name, value] of Object.entries(changedAttributes(queue.settings.fifo, changeable))) {
      if ((queue.attributes[name] ?? '') === value) continue
      throw sqsError('QueueNameExists', `A queue already exists with this name and another value of ${name}.`)
    }
    return queue
  }

  return {
    create(name, given) {
      const attributes = newQueueAttributes(name, given)
      const known = byName.get(name)
      if (known) return existing(known, given)
      made++
      return remember(made, name, attributes, now())
    },
    get(name) {
      const queue = byName.get(name)
      if (queue) return queue
      throw sqsError('QueueDoesNotExist', `The specified queue "${name}" does not exist.`)
    },
    find: (name) => byName.get(name),
    list: (prefix) =>
      [...byName.values()].filter(({ name }) => name.startsWith(prefix)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    change(queue, given) {
      const attributes = { ...queue.attributes, ...changedAttributes(queue.settings.fifo, given) }
      remember(queue.id, queue.name, attributes, queue.createdAt)
    },
    remove(queue) {
      byName.delete(queue.name)
      forget(queue)
    },
    purge(queue) {
      if (now() - (purgedAt.get(queue.id) ?? Number.NEGATIVE_INFINITY) < PURGE_INTERVAL_MS) {
        throw sqsError('PurgeQueueInProgress', `Only one PurgeQueue on ${queue.name} is allowed every 60 seconds.`)
      }
      purgedAt.set(queue.id, now())
      forget(queue)
    },
  }
}
