/** What is said of a message that was accepted. */
import { md5OfAttributes, type OutgoingMessage } from './message.ts'
import type { SentMessage } from './messages.ts'
import type { Queue } from './queues.ts'

/** What SendMessage answers; also an entry of SendMessageBatch. */
export function sentAnswer(
  queue: Queue,
  message: OutgoingMessage,
  sent: SentMessage,
): Record<string, string | undefined> {
  return {
    MessageId: sent.id,
    MD5OfMessageBody: message.bodyMd5,
    MD5OfMessageAttributes: md5OfAttributes(message.attributes),
    MD5OfMessageSystemAttributes: message.traceHeader && md5OfAttributes({ AWSTraceHeader: message.traceHeader }),
    SequenceNumber: queue.settings.fifo ? sequenceNumber(sent.sequence) : undefined,
  }
}

/** Twenty digits, so that comparing strings compares numbers. */
export const sequenceNumber = (sequence: number): string => String(sequence).padStart(20, '0')
