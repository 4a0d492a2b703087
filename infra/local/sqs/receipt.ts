/** A receipt handle names a receive of a message in a queue. Opaque to callers. */
import { sqsError } from './errors.ts'
import type { Queue } from './queues.ts'

export interface Receipt {
  readonly queueId: number
  readonly seq: number
  /** The message's receive count at that receive: a later receive makes this handle obsolete. */
  readonly receives: number
  readonly messageId: string
}

export function receiptHandle({ queueId, seq, receives, messageId }: Receipt): string {
  return Buffer.from(`${queueId}:${seq}:${receives}:${messageId}`).toString('base64url')
}

/** Reads a handle; a foreign handle, or a handle of another queue, is `ReceiptHandleIsInvalid`. */
export function receiptOf(queue: Queue, handle: string): Receipt {
  const [, queueId, seq, receives, messageId] =
    /^(\d+):(\d+):(\d+):([0-9a-f-]{36})$/.exec(Buffer.from(handle, 'base64url').toString('latin1')) ?? []
  if (messageId === undefined || Number(queueId) !== queue.id) {
    throw sqsError(
      'ReceiptHandleIsInvalid',
      `The input receipt handle is not one of queue ${queue.name}. Use one it gave.`,
    )
  }
  return { queueId: queue.id, seq: Number(seq), receives: Number(receives), messageId }
}
