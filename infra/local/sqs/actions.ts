/** The actions of SQS on one queue or its messages, from checked input to the answer's shape. */
import { z } from 'zod'
import type { Action } from '../json-protocol.ts'
import { sentAnswer } from './answers.ts'
import { numberWithin, type QueueAttributes, queueArn, ranges } from './attributes.ts'
import { batchActions } from './batch.ts'
import { sqsError } from './errors.ts'
import { messageSchema, outgoingMessage } from './message.ts'
import type { Messages } from './messages.ts'
import type { Queue } from './queues.ts'
import { receive, receiveSchema } from './receive.ts'
import { queueOf, queueUrl, type SqsState } from './state.ts'

const attributesSchema = z.record(z.string(), z.string())
const handle = z.object({ ReceiptHandle: z.string() })

/** ListQueues in the SQS API reference. */
const listedMax = 1_000

/** All actions that are served; what Muster and its stack don't use is left out and answered as unknown. */
export function sqsActions(state: SqsState): Record<string, Action> {
  const { queues, messages, waiters } = state
  return {
    CreateQueue(input, call) {
      const { QueueName, Attributes } = z
        .object({ QueueName: z.string(), Attributes: attributesSchema.optional() })
        .parse(input)
      return { QueueUrl: queueUrl(call, queues.create(QueueName, Attributes ?? {})) }
    },
    GetQueueUrl(input, call) {
      const { QueueName } = z.object({ QueueName: z.string() }).parse(input)
      return { QueueUrl: queueUrl(call, queues.get(QueueName)) }
    },
    ListQueues(input, call) {
      const { QueueNamePrefix, MaxResults, NextToken } = z
        .object({
          QueueNamePrefix: z.string().optional(),
          MaxResults: z.number().optional(),
          NextToken: z.string().optional(),
        })
        .parse(input)
      const max = numberWithin('MaxResults', [1, listedMax], MaxResults ?? listedMax)
      const listed = queues.list(QueueNamePrefix ?? '').filter(({ name }) => name > (NextToken ?? ''))
      const page = listed.slice(0, max)
      return {
        QueueUrls: page.map((queue) => queueUrl(call, queue)),
        NextToken: MaxResults !== undefined && listed.length > max ? page.at(-1)?.name : undefined,
      }
    },
    GetQueueAttributes(input) {
      const { AttributeNames } = z.object({ AttributeNames: z.array(z.string()).optional() }).parse(input)
      return { Attributes: chosen(describe(messages, queueOf(queues, input)), AttributeNames ?? []) }
    },
    SetQueueAttributes(input) {
      const queue = queueOf(queues, input)
      queues.change(queue, z.object({ Attributes: attributesSchema }).parse(input).Attributes)
      waiters.notify(queue.id)
    },
    DeleteQueue(input) {
      const queue = queueOf(queues, input)
      queues.remove(queue)
      waiters.notify(queue.id)
    },
    PurgeQueue: (input) => queues.purge(queueOf(queues, input)),

    SendMessage(input) {
      const queue = queueOf(queues, input)
      const message = outgoingMessage(queue.settings, messageSchema.parse(input))
      const [sent] = messages.send(queue, [message])
      waiters.notify(queue.id)
      return sent && sentAnswer(queue, message, sent)
    },
    ReceiveMessage: (input, call) =>
      receive(state, queueOf(queues, input).name, receiveSchema.parse(input), call.signal),
    DeleteMessage(input) {
      const queue = queueOf(queues, input)
      messages.delete(queue, handle.parse(input).ReceiptHandle)
      waiters.notify(queue.id) // its group is free for the next one
    },
    ChangeMessageVisibility(input) {
      const queue = queueOf(queues, input)
      const { ReceiptHandle, VisibilityTimeout } = handle.extend({ VisibilityTimeout: z.number() }).parse(input)
      messages.changeVisibility(queue, ReceiptHandle, VisibilityTimeout)
      waiters.notify(queue.id)
    },
    ...batchActions(state),
  }
}

function describe(messages: Messages, queue: Queue): QueueAttributes {
  const counts = messages.counts(queue)
  const set = Object.entries(queue.attributes).filter(([, value]) => value !== '')
  return {
    ...Object.fromEntries(set),
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    ApproximateNumberOfMessagesDelayed: String(counts.delayed),
    CreatedTimestamp: String(Math.floor(queue.createdAt / 1_000)),
    LastModifiedTimestamp: String(Math.floor(queue.modifiedAt / 1_000)),
    QueueArn: queueArn(queue.name),
  }
}

/** May be asked for although a queue doesn't have it. */
const attributesByChoice = new Set([
  ...Object.keys(ranges),
  'KmsMasterKeyId',
  'Policy',
  'RedriveAllowPolicy',
  'RedrivePolicy',
])
const attributesOfFifo = new Set([
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoQueue',
  'FifoThroughputLimit',
])

function chosen(attributes: QueueAttributes, names: readonly string[]): QueueAttributes | undefined {
  if (names.includes('All')) return attributes
  const entries = names.flatMap((name) => {
    const value = attributes[name]
    if (value !== undefined) return [[name, value] as const]
    if (attributesByChoice.has(name) || attributesOfFifo.has(name)) return []
    throw sqsError('InvalidAttributeName', `Unknown attribute ${name}. Ask for All to see those that exist.`)
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
