/** The attributes of a queue: names, ranges, and their meaning to the code. */
import { z } from 'zod'
import { invalidParameter, sqsError } from './errors.ts'

/** As SQS stores and returns attributes: every value a string. */
export type QueueAttributes = Readonly<Record<string, string>>

export interface QueueSettings {
  readonly contentBasedDeduplication: boolean
  /** A deduplication id counts only within its message group. */
  readonly deduplicationByGroup: boolean
  readonly visibilityTimeoutSeconds: number
  readonly retentionSeconds: number
  readonly deadLetter: { readonly queueName: string; readonly receivesMax: number } | undefined
}

/** The one account; AWS uses twelve digits, local stand-ins use zeros. */
export const accountId = '000000000000'

/** One machine has no regions, but the ARN needs a word there. */
export const queueArn = (queueName: string): string => `arn:aws:sqs:local:${accountId}:${queueName}`

/** The longest visibility timeout, s: SetQueueAttributes in the SQS API reference, as are all ranges here. */
export const visibilitySecondsMax = 43_200

const flag = z.enum(['true', 'false'])

/** A whole number as text. */
const seconds = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/)
    .refine((text) => Number(text) >= least && Number(text) <= most, `must be ${least} to ${most}`)

const redriveSchema = z.object({
  deadLetterTargetArn: z.string().regex(/^arn:aws[\w-]*:sqs:[\w-]+:\d{12}:[\w.-]+$/),
  maxReceiveCount: z.coerce.number().int().min(1).max(1_000),
})

/**
 * The attributes that the stack sets. Encryption and the throughput limit are stored and returned, without effect on
 * one machine.
 */
const attributesSchema = z.strictObject({
  ContentBasedDeduplication: flag.default('false'),
  DeduplicationScope: z.enum(['queue', 'messageGroup']).default('queue'),
  FifoQueue: z.literal('true'),
  FifoThroughputLimit: z.enum(['perQueue', 'perMessageGroupId']).default('perQueue'),
  MessageRetentionPeriod: seconds(60, 1_209_600).default('345600'),
  RedrivePolicy: z.string().optional(),
  SqsManagedSseEnabled: flag.default('true'),
  VisibilityTimeout: seconds(0, visibilitySecondsMax).default('30'),
})

/** All attributes of a new queue. Refuses unknown attributes, and everything that SQS refuses. */
export function newQueueAttributes(queueName: string, given: QueueAttributes): QueueAttributes {
  if (!/^(?=.{1,80}$)[\w-]+\.fifo$/.test(queueName)) {
    throw invalidParameter('QueueName', queueName, 'Up to 80 letters, digits, hyphens and underscores, then ".fifo".')
  }
  const parsed = attributesSchema.safeParse(given)
  if (parsed.success) return parsed.data as QueueAttributes
  const unknown = parsed.error.issues.some(({ code }) => code === 'unrecognized_keys')
  throw sqsError(unknown ? 'InvalidAttributeName' : 'InvalidAttributeValue', z.prettifyError(parsed.error))
}

export function settingsOf(attributes: QueueAttributes): QueueSettings {
  const policy = attributes.RedrivePolicy ? redriveSchema.parse(JSON.parse(attributes.RedrivePolicy)) : undefined
  return {
    contentBasedDeduplication: attributes.ContentBasedDeduplication === 'true',
    deduplicationByGroup: attributes.DeduplicationScope === 'messageGroup',
    visibilityTimeoutSeconds: Number(attributes.VisibilityTimeout),
    retentionSeconds: Number(attributes.MessageRetentionPeriod),
    deadLetter: policy && {
      // One account, one region: the name alone identifies the queue.
      queueName: policy.deadLetterTargetArn.slice(policy.deadLetterTargetArn.lastIndexOf(':') + 1),
      receivesMax: policy.maxReceiveCount,
    },
  }
}
