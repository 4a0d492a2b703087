/** What a sent message must be, and the digests that the SDK compares. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { numberWithin, type QueueSettings, ranges } from './attributes.ts'
import { invalidParameter, sqsError } from './errors.ts'

const attributeSchema = z.object({
  DataType: z.string().regex(/^(String|Number|Binary)(\..+)?$/, 'must be String, Number or Binary'),
  StringValue: z.string().optional(),
  /** base64 on the wire */
  BinaryValue: z.string().optional(),
})

export type MessageAttributes = Readonly<Record<string, z.infer<typeof attributeSchema>>>

export const messageSchema = z.object({
  MessageBody: z.string().optional(),
  DelaySeconds: z.number().optional(),
  MessageGroupId: z.string().optional(),
  MessageDeduplicationId: z.string().optional(),
  MessageAttributes: z.record(z.string(), attributeSchema).optional(),
  MessageSystemAttributes: z.object({ AWSTraceHeader: attributeSchema.optional() }).strict().optional(),
})

/** A message that was checked against its queue. */
export interface OutgoingMessage {
  readonly body: string
  readonly bodyMd5: string
  readonly attributes: MessageAttributes | undefined
  readonly traceHeader: MessageAttributes[string] | undefined
  readonly groupId: string | undefined
  readonly deduplicationId: string | undefined
  readonly delaySeconds: number
}

/** Ten per message: SQS quotas. */
const messageAttributesMax = 10

/** Characters that XML 1.0 allows, which is what SQS accepts in a body; lone surrogates aren't among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are what is allowed
const allowedBody = /^[\u0009\u000A\u000D\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

/** Message group and deduplication ids: up to 128 printable ASCII characters without the space. */
const allowedId = /^[\x21-\x7E]{1,128}$/

/** Checks `entry` as SQS would for this queue; refuses the first thing that is wrong. */
export function outgoingMessage(settings: QueueSettings, entry: z.infer<typeof messageSchema>): OutgoingMessage {
  const body = entry.MessageBody
  if (!body) throw sqsError('MissingParameter', 'The request must contain the parameter MessageBody, not empty.')
  if (!allowedBody.test(body)) {
    throw sqsError('InvalidMessageContents', 'The body has characters outside XML 1.0. Encode it, for example base64.')
  }
  const attributes = checkedAttributes(entry.MessageAttributes)
  const bytes = messageBytes(entry)
  if (bytes > settings.messageBytesMax) {
    throw sqsError(
      'InvalidParameterValue',
      `One or more parameters are invalid. Reason: Message must be shorter than ${settings.messageBytesMax} bytes, and has ${bytes}.`,
    )
  }
  return {
    body,
    bodyMd5: md5(body),
    attributes,
    traceHeader: entry.MessageSystemAttributes?.AWSTraceHeader,
    groupId: groupIdOf(settings, entry.MessageGroupId),
    deduplicationId: deduplicationIdOf(settings, entry.MessageDeduplicationId, body),
    delaySeconds: delayOf(settings, entry.DelaySeconds),
  }
}

/** What counts against the limit: the body, and each attribute's name, type and value. */
export function messageBytes(entry: z.infer<typeof messageSchema>): number {
  const attributes = Object.entries(entry.MessageAttributes ?? {})
  return attributes.reduce(
    (sum, [name, value]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(value.DataType) + valueBytes(value).length,
    Buffer.byteLength(entry.MessageBody ?? ''),
  )
}

/**
 * The digest of message attributes that the SQS guide defines: by name, each of name, type and value preceded by its
 * length, the value also by one byte for its kind.
 */
export function md5OfAttributes(attributes: MessageAttributes | undefined): string | undefined {
  const entries = Object.entries(attributes ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  if (entries.length === 0) return undefined
  const hash = createHash('md5')
  for (const [name, attribute] of entries) {
    const kind = attribute.DataType.startsWith('Binary') ? 2 : 1
    for (const part of [
      withLength(name),
      withLength(attribute.DataType),
      Buffer.of(kind),
      withLength(valueBytes(attribute)),
    ]) {
      hash.update(part)
    }
  }
  return hash.digest('hex')
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

function withLength(part: string | Buffer): Buffer {
  const bytes = Buffer.from(part as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function valueBytes(attribute: MessageAttributes[string]): Buffer {
  return attribute.DataType.startsWith('Binary')
    ? Buffer.from(attribute.BinaryValue ?? '', 'base64')
    : Buffer.from(attribute.StringValue ?? '')
}

function checkedAttributes(attributes: MessageAttributes | undefined): MessageAttributes | undefined {
  const entries = Object.entries(attributes ?? {})
  if (entries.length > messageAttributesMax) {
    throw sqsError('InvalidParameterValue', `A message may have ${messageAttributesMax} attributes. Send fewer.`)
  }
  for (const [name, attribute] of entries) {
    if (!/^(?!aws\.|amazon\.)[\w.-]{1,256}$/i.test(name)) {
      throw invalidParameter(
        'MessageAttributeName',
        name,
        'Up to 256 letters, digits and _ - . without a reserved prefix.',
      )
    }
    if (valueBytes(attribute).length === 0) {
      throw invalidParameter(
        'MessageAttribute',
        name,
        `A ${attribute.DataType} attribute must have a value of its kind.`,
      )
    }
  }
  return entries.length > 0 ? attributes : undefined
}

function groupIdOf(settings: QueueSettings, groupId: string | undefined): string | undefined {
  if (groupId === undefined) {
    if (settings.fifo) throw sqsError('MissingParameter', 'The request must contain the parameter MessageGroupId.')
    return undefined
  }
  if (!allowedId.test(groupId)) throw invalidParameter('MessageGroupId', groupId, '1 to 128 printable characters.')
  return groupId
}

function deduplicationIdOf(settings: QueueSettings, given: string | undefined, body: string): string | undefined {
  if (!settings.fifo) {
    if (given === undefined) return undefined
    throw invalidParameter('MessageDeduplicationId', given, 'A standard queue has no deduplication.')
  }
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

function delayOf(settings: QueueSettings, given: number | undefined): number {
  if (given === undefined) return settings.delaySeconds
  if (settings.fifo && given !== 0) {
    throw invalidParameter('DelaySeconds', given, 'A FIFO queue delays all its messages alike: set it on the queue.')
  }
  return settings.fifo ? settings.delaySeconds : numberWithin('DelaySeconds', ranges.DelaySeconds, given)
}
