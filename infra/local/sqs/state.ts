/** The state that the actions share: queues, messages and waiting receivers; and how a caller names a queue. */
import { z } from 'zod'
import type { Call } from '../json-protocol.ts'
import { accountId } from './attributes.ts'
import { sqsError } from './errors.ts'
import type { Messages } from './messages.ts'
import type { Queue, Queues } from './queues.ts'
import type { Waiters } from './waiters.ts'

export interface SqsState {
  readonly queues: Queues
  readonly messages: Messages
  readonly waiters: Waiters
}

const onQueue = z.object({ QueueUrl: z.string().optional() })

/** The queue of `QueueUrl`. The host is irrelevant: every caller means this service. */
export function queueOf(queues: Queues, input: unknown): Queue {
  const { QueueUrl } = onQueue.parse(input)
  if (!QueueUrl) throw sqsError('MissingParameter', 'The request must contain the parameter QueueUrl.')
  const [, account, name] = /\/(\d{12})\/([\w.-]+)$/.exec(QueueUrl) ?? []
  if (name === undefined || account !== accountId) {
    throw sqsError('QueueDoesNotExist', `"${QueueUrl}" isn't a queue of account ${accountId}. Ask GetQueueUrl.`)
  }
  return queues.get(name)
}

/** The SDK takes the URL's host as its endpoint, so the URL has the host by which the caller reached the service. */
export const queueUrl = (call: Call, queue: Queue): string => `http://${call.host}/${accountId}/${queue.name}`
