/** The actions of SQS for the stack, its functions and its tests. */
import { z } from 'zod'
import { type Action, ServiceError } from '../json-protocol.ts'
import { type QueueAttributes, queueArn } from './attributes.ts'
import { messageSchema, outgoingMessage, sequenceNumber } from './message.ts'
import type { Messages } from './messages.ts'
import type { Queue } from './queues.ts'
import { receive, receiveSchema } from './receive.ts'
import { queueOf, queueUrl, type SqsState } from './state.ts'

const createSchema = z.object({ QueueName: z.string(), Attributes: z.record(z.string(), z.string()).default({}) })
const nameSchema = z.object({ QueueName: z.string() })
const deletion = z.object({ Id: z.string(), ReceiptHandle: z.string() })
const deletionsSchema = z.object({ Entries: z.array(deletion) })
const changesSchema = z.object({ Entries: z.array(deletion.extend({ VisibilityTimeout: z.number() })) })

/** Any other action is answered as unknown. */
export function sqsActions(state: SqsState): Record<string, Action> {
  const { queues, messages, waiters } = state

  /** A refused entry is reported beside the others, which take effect. */
  function each<Entry extends z.infer<typeof deletion>>(
    queue: Queue,
    entries: readonly Entry[],
    act: (entry: Entry) => void,
  ): object {
    const answer: { Successful: object[]; Failed: object[] } = { Successful: [], Failed: [] }
    for (const entry of entries) {
      const { Id } = entry
      try {
        act(entry)
        answer.Successful.push({ Id })
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        answer.Failed.push({ Id, SenderFault: true, Code: error.code, Message: error.message })
      }
    }
    waiters.notify(queue.id) // a message may be visible again, or its group unlocked
    return answer
  }

  return {
    CreateQueue(input, call) {
      const { QueueName, Attributes } = createSchema.parse(input)
      return { QueueUrl: queueUrl(call, queues.create(QueueName, Attributes)) }
    },
    GetQueueUrl: (input, call) => ({ QueueUrl: queueUrl(call, queues.get(nameSchema.parse(input).QueueName)) }),
    GetQueueAttributes: (input) => ({ Attributes: describe(messages, queueOf(queues, input)) }),
    SendMessage(input) {
      const queue = queueOf(queues, input)
      const message = outgoingMessage(queue.settings, messageSchema.parse(input))
      const { id, sequence } = messages.send(queue, message)
      waiters.notify(queue.id)
      return { MessageId: id, MD5OfMessageBody: message.bodyMd5, SequenceNumber: sequenceNumber(sequence) }
    },
    ReceiveMessage: (input, call) =>
      receive(state, queueOf(queues, input).name, receiveSchema.parse(input), call.signal),
    DeleteMessageBatch(input) {
      const queue = queueOf(queues, input)
      return each(queue, deletionsSchema.parse(input).Entries, ({ ReceiptHandle }) =>
        messages.delete(queue, ReceiptHandle),
      )
    },
    ChangeMessageVisibilityBatch(input) {
      const queue = queueOf(queues, input)
      return each(queue, changesSchema.parse(input).Entries, ({ ReceiptHandle, VisibilityTimeout }) =>
        messages.changeVisibility(queue, ReceiptHandle, VisibilityTimeout),
      )
    },
  }
}

/** All attributes, whatever the request names. */
function describe(messages: Messages, queue: Queue): QueueAttributes {
  const counts = messages.counts(queue)
  return {
    ...queue.attributes,
    ApproximateNumberOfMessages: String(counts.visible),
    ApproximateNumberOfMessagesNotVisible: String(counts.inFlight),
    QueueArn: queueArn(queue.name),
  }
}
