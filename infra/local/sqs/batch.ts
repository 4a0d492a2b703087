/** Batches: up to ten entries, of which each succeeds or fails for itself. */
import { z } from 'zod'
import { type Action, ServiceError } from '../json-protocol.ts'
import { sentAnswer } from './answers.ts'
import { ranges } from './attributes.ts'
import { sqsError } from './errors.ts'
import { messageBytes, messageSchema, type OutgoingMessage, outgoingMessage } from './message.ts'
import { queueOf, type SqsState } from './state.ts'

interface Entry {
  readonly Id: string
}

interface BatchAnswer {
  readonly Successful: object[]
  readonly Failed: object[]
}

/** SQS quotas; the whole batch may have as many bytes as one message. */
const entriesMax = 10
const batchBytesMax = ranges.MaximumMessageSize[1]

const id = z.object({ Id: z.string() })
const sendSchema = z.object({ Entries: z.array(id.extend(messageSchema.shape)).default([]) })
const deleteSchema = z.object({ Entries: z.array(id.extend({ ReceiptHandle: z.string() })).default([]) })
const changeSchema = z.object({
  Entries: z.array(id.extend({ ReceiptHandle: z.string(), VisibilityTimeout: z.number() })).default([]),
})

export function batchActions({ queues, messages, waiters }: SqsState): Record<string, Action> {
  return {
    SendMessageBatch(input) {
      const queue = queueOf(queues, input)
      const entries = checked(sendSchema.parse(input).Entries)
      if (entries.reduce((sum, entry) => sum + messageBytes(entry), 0) > batchBytesMax) {
        throw sqsError(
          'BatchRequestTooLong',
          `Batch requests cannot be longer than ${batchBytesMax} bytes. Send fewer at once.`,
        )
      }
      const accepted: { id: string; message: OutgoingMessage }[] = []
      const { Failed } = each(entries, (entry) => {
        accepted.push({ id: entry.Id, message: outgoingMessage(queue.settings, entry) })
      })
      const sent = messages.send(
        queue,
        accepted.map(({ message }) => message),
      )
      waiters.notify(queue.id)
      const Successful = accepted.flatMap(({ id, message }, index) => {
        const answered = sent[index]
        return answered ? [{ Id: id, ...sentAnswer(queue, message, answered) }] : []
      })
      return { Successful, Failed }
    },
    DeleteMessageBatch(input) {
      const queue = queueOf(queues, input)
      const entries = checked(deleteSchema.parse(input).Entries)
      const answer = messages.together(() => each(entries, (entry) => messages.delete(queue, entry.ReceiptHandle)))
      waiters.notify(queue.id)
      return answer
    },
    ChangeMessageVisibilityBatch(input) {
      const queue = queueOf(queues, input)
      const entries = checked(changeSchema.parse(input).Entries)
      const answer = messages.together(() =>
        each(entries, (entry) => messages.changeVisibility(queue, entry.ReceiptHandle, entry.VisibilityTimeout)),
      )
      waiters.notify(queue.id)
      return answer
    },
  }
}

function checked<Item extends Entry>(entries: readonly Item[]): readonly Item[] {
  if (entries.length === 0) throw sqsError('EmptyBatchRequest', 'There should be at least one entry in the request.')
  if (entries.length > entriesMax) {
    throw sqsError(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are ${entriesMax}. Send fewer.`,
    )
  }
  const ids = entries.map((entry) => entry.Id)
  const malformed = ids.find((id) => !/^[\w-]{1,80}$/.test(id))
  if (malformed !== undefined) {
    throw sqsError(
      'InvalidBatchEntryId',
      `"${malformed}" isn't an entry id: up to 80 letters, digits, hyphens, underscores.`,
    )
  }
  if (new Set(ids).size < ids.length) {
    throw sqsError('BatchEntryIdsNotDistinct', 'Two entries have the same Id. Give each its own.')
  }
  return entries
}

function each<Item extends Entry>(entries: readonly Item[], act: (entry: Item) => void): BatchAnswer {
  const answer: BatchAnswer = { Successful: [], Failed: [] }
  for (const entry of entries) {
    try {
      act(entry)
      answer.Successful.push({ Id: entry.Id })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { queryCode, code, message } = error
      answer.Failed.push({ Id: entry.Id, SenderFault: true, Code: queryCode ?? code, Message: message })
    }
  }
  return answer
}
