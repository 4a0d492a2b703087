/** The attributes of a queue: which may be set, in what range, and what they mean to the code. */
import { z } from 'zod'
import { invalidParameter, sqsError } from './errors.ts'

/** As SQS keeps and returns them: every value a string. */
export type QueueAttributes = Readonly<Record<string, string>>

export interface QueueSettings {
  readonly fifo: boolean
  readonly contentBasedDeduplication: boolean
  /** FIFO: a deduplication id counts within its message group only. */
  readonly deduplicationByGroup: boolean
  readonly visibilityTimeoutSeconds: number
  readonly delaySeconds: number
  readonly retentionSeconds: number
  readonly waitSeconds: number
  readonly messageBytesMax: number
  readonly deadLetter: { readonly queueName: string; readonly receivesMax: number } | undefined
}

/** The one account here; AWS uses twelve digits, local stand-ins use zeros. */
export const accountId = '000000000000'

/** There are no regions on one machine; the ARN still needs a word there. */
export const queueArn = (queueName: string): string => `arn:aws:sqs:local:${accountId}:${queueName}`

/** Seconds and bytes: SetQueueAttributes in the SQS API reference. */
export const ranges = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1_024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
} as const satisfies Record<string, readonly [least: number, most: number]>

const rangeOf = new Map<string, readonly [number, number]>(Object.entries(ranges))

const choicesOf = new Map<string, readonly string[]>([
  ['ContentBasedDeduplication', ['true', 'false']],
  ['DeduplicationScope', ['queue', 'messageGroup']],
  ['FifoThroughputLimit', ['perQueue', 'perMessageGroupId']],
  ['SqsManagedSseEnabled', ['true', 'false']],
])

/** Kept and returned, without effect: one machine has no keys and no other principals. */
const keptOnly = new Set(['KmsMasterKeyId', 'Policy', 'RedriveAllowPolicy'])

const fifoOnly = new Set(['ContentBasedDeduplication', 'DeduplicationScope', 'FifoThroughputLimit'])

const standardDefaults: QueueAttributes = {
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  SqsManagedSseEnabled: 'true',
  VisibilityTimeout: '30',
}

const fifoDefaults: QueueAttributes = {
  ...standardDefaults,
  ContentBasedDeduplication: 'false',
  DeduplicationScope: 'queue',
  FifoQueue: 'true',
  FifoThroughputLimit: 'perQueue',
}

const redrivePolicySchema = z.object({
  deadLetterTargetArn: z.string().regex(/^arn:aws[\w-]*:sqs:[\w-]+:\d{12}:[\w.-]+$/),
  maxReceiveCount: z.coerce.number().int().min(1).max(1_000),
})

/** All attributes of a new queue. Refuses a name or a value that SQS would refuse. */
export function newQueueAttributes(queueName: string, given: QueueAttributes): QueueAttributes {
  if (!/^[\w-]{1,80}$/.test(queueName.replace(/\.fifo$/, '')) || queueName.length > 80) {
    throw invalidParameter('QueueName', queueName, 'Up to 80 letters, digits, hyphens and underscores, then ".fifo".')
  }
  const { FifoQueue, ...rest } = given
  if (FifoQueue !== undefined && FifoQueue !== 'true') {
    throw sqsError('InvalidAttributeValue', 'FifoQueue may be "true" or absent. Leave it out for a standard queue.')
  }
  const fifo = FifoQueue === 'true'
  if (fifo !== queueName.endsWith('.fifo')) {
    throw invalidParameter('QueueName', queueName, 'FifoQueue "true" and a name that ends in ".fifo" go together.')
  }
  return { ...(fifo ? fifoDefaults : standardDefaults), ...changedAttributes(fifo, rest) }
}

/** The given attributes in their one form, so that equal ones compare equal. An empty policy means none. */
export function changedAttributes(fifo: boolean, given: QueueAttributes): QueueAttributes {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (fifoOnly.has(name) && !fifo) {
        throw sqsError(
          'InvalidAttributeName',
          `${name} is for FIFO queues only. Create the queue with FifoQueue "true".`,
        )
      }
      return [name, normalized(name, value)]
    }),
  )
}

export function settingsOf(attributes: QueueAttributes): QueueSettings {
  const policy = attributes.RedrivePolicy ? redrivePolicySchema.parse(JSON.parse(attributes.RedrivePolicy)) : undefined
  return {
    fifo: attributes.FifoQueue === 'true',
    contentBasedDeduplication: attributes.ContentBasedDeduplication === 'true',
    deduplicationByGroup: attributes.DeduplicationScope === 'messageGroup',
    visibilityTimeoutSeconds: Number(attributes.VisibilityTimeout),
    delaySeconds: Number(attributes.DelaySeconds),
    retentionSeconds: Number(attributes.MessageRetentionPeriod),
    waitSeconds: Number(attributes.ReceiveMessageWaitTimeSeconds),
    messageBytesMax: Number(attributes.MaximumMessageSize),
    deadLetter: policy && {
      // One account, one region: the name alone says which queue is meant.
      queueName: policy.deadLetterTargetArn.slice(policy.deadLetterTargetArn.lastIndexOf(':') + 1),
      receivesMax: policy.maxReceiveCount,
    },
  }
}

/** `value` if it is a whole number in `range`; `parameter` names it to the caller. */
export function numberWithin(parameter: string, [least, most]: readonly [number, number], value: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw invalidParameter(parameter, value, `Must be between ${least} and ${most}.`)
}

function normalized(name: string, value: string): string {
  const range = rangeOf.get(name)
  if (range) {
    const [least, most] = range
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return String(number)
    throw sqsError('InvalidAttributeValue', `${name} is "${value}". Use a whole number from ${least} to ${most}.`)
  }
  const choice = choicesOf.get(name)
  if (choice) {
    if (choice.includes(value)) return value
    throw sqsError('InvalidAttributeValue', `${name} is "${value}". Use ${choice.join(' or ')}.`)
  }
  if (name === 'RedrivePolicy') return value === '' ? '' : normalizedRedrivePolicy(value)
  if (keptOnly.has(name)) return value
  throw sqsError('InvalidAttributeName', `Unknown or unchangeable attribute ${name}. Leave it out.`)
}

function normalizedRedrivePolicy(value: string): string {
  try {
    return JSON.stringify(redrivePolicySchema.parse(JSON.parse(value)))
  } catch {
    // What zod or JSON say of it adds nothing to the whole rule.
    throw invalidParameter(
      'RedrivePolicy',
      value,
      'Must be JSON with deadLetterTargetArn (a queue) and maxReceiveCount (1 to 1000).',
    )
  }
}
