/** The rules for a sent message. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { QueueSettings } from './attributes.ts'
import { invalidParameter, sqsError } from './errors.ts'

/** Strict: the service refuses a field without effect here, and ignores none. */
export const messageSchema = z.strictObject({
  QueueUrl: z.string(),
  MessageBody: z.string().optional(),
  MessageGroupId: z.string().optional(),
  MessageDeduplicationId: z.string().optional(),
})

/** A message that passed the checks of its queue. */
export interface OutgoingMessage {
  readonly body: string
  readonly bodyMd5: string
  readonly groupId: string
  readonly deduplicationId: string
}

/** Bytes of a body: SQS quotas. */
const messageBytesMax = 1_048_576

/** The characters that SQS accepts in a body: those of XML 1.0, without lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are what is allowed
const allowedBody = /^[\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

/** Message group and deduplication ids: up to 128 printable ASCII characters without the space. */
const allowedId = /^[\x21-\x7E]{1,128}$/

/** Checks `entry` by the rules of SQS for this queue; refuses the first mistake. */
export function outgoingMessage(settings: QueueSettings, entry: z.infer<typeof messageSchema>): OutgoingMessage {
  const { MessageBody: body, MessageGroupId: groupId } = entry
  if (!body) throw sqsError('MissingParameter', 'The request must contain the parameter MessageBody, not empty.')
  if (!allowedBody.test(body)) {
    throw sqsError('InvalidMessageContents', 'The body has characters outside XML 1.0. Encode it, for example base64.')
  }
  const bytes = Buffer.byteLength(body)
  if (bytes > messageBytesMax) {
    throw invalidParameter('MessageBody', `of ${bytes} bytes`, `At most ${messageBytesMax} bytes are allowed.`)
  }
  if (groupId === undefined)
    throw sqsError('MissingParameter', 'The request must contain the parameter MessageGroupId.')
  if (!allowedId.test(groupId)) throw invalidParameter('MessageGroupId', groupId, '1 to 128 printable characters.')
  const bodyMd5 = createHash('md5').update(body).digest('hex')
  return { body, bodyMd5, groupId, deduplicationId: deduplicationIdOf(settings, entry.MessageDeduplicationId, body) }
}

/** Twenty digits, so that the order of strings is the order of numbers. */
export const sequenceNumber = (sequence: number): string => String(sequence).padStart(20, '0')

function deduplicationIdOf(settings: QueueSettings, given: string | undefined, body: string): string {
  if (given !== undefined) {
    if (allowedId.test(given)) return given
    throw invalidParameter('MessageDeduplicationId', given, '1 to 128 printable characters.')
  }
  if (settings.contentBasedDeduplication) return createHash('sha256').update(body).digest('hex')
  throw sqsError(
    'InvalidParameterValue',
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly.',
  )
}
