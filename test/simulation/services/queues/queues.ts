/** The existing queues, in memory. */
import {
  newQueueAttributes,
  type QueueAttributes,
  queueArn,
  settingsOf,
} from '../../../../infra/local/sqs/attributes.ts'
import { invalidParameter, sqsError } from '../../../../infra/local/sqs/errors.ts'
import { existing, type Queue, type Queues } from '../../../../infra/local/sqs/queues.ts'

export interface MemoryQueues extends Queues {
  byId(id: number): Queue | undefined
}

export function memoryQueues(): MemoryQueues {
  const byName = new Map<string, Queue>()

  function add(name: string, attributes: QueueAttributes): Queue {
    const settings = settingsOf(attributes)
    if (settings.deadLetter && !byName.has(settings.deadLetter.queueName)) {
      const arn = queueArn(settings.deadLetter.queueName)
      throw invalidParameter('RedrivePolicy', arn, `There is no such dead-letter queue for ${name}.`)
    }
    const queue = { id: byName.size + 1, name, attributes, settings }
    byName.set(name, queue)
    return queue
  }

  return {
    create(name, given) {
      const attributes = newQueueAttributes(name, given)
      const known = byName.get(name)
      return known ? existing(known, Object.keys(given), attributes) : add(name, attributes)
    },
    get(name) {
      const queue = byName.get(name)
      if (queue) return queue
      throw sqsError('QueueDoesNotExist', `The specified queue "${name}" does not exist.`)
    },
    find: (name) => byName.get(name),
    byId: (id) => [...byName.values()].find((queue) => queue.id === id),
  }
}
