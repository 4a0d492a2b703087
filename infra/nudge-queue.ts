/** A FIFO queue of nudges, grouped by pull request, with its dead letters. */
import { Duration } from 'aws-cdk-lib'
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

export interface NudgeQueueProps {
  /** The timeout of the function that the queue invokes. */
  readonly consumerTimeoutSeconds: number
}

/**
 * Invocations that work on one queue at once. Each invocation calls GitHub for another pull request, and GitHub allows
 * an installation 100 requests at once and 80 new contents a minute.
 */
export const queueConcurrency = 10

/**
 * A message stays hidden for this many timeouts of its consumer. AWS recommends six, because Lambda retries a throttled
 * batch meanwhile.
 */
const visibilityTimeouts = 6

/** Receives after which a message counts as a crasher of its consumer. */
const receivesMax = 5

/** SQS's maximum. */
const deadLetterRetention = Duration.days(14)

export class NudgeQueue extends Construct {
  readonly queue: Queue
  readonly deadLetters: Queue

  constructor(scope: Construct, id: string, props: NudgeQueueProps) {
    super(scope, id)
    this.deadLetters = new Queue(this, 'DeadLetters', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: deadLetterRetention,
    })
    this.queue = new Queue(this, 'Queue', {
      fifo: true,
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(visibilityTimeouts * props.consumerTimeoutSeconds),
      // Order and deduplication are per pull request, so a busy pull request doesn't slow the others.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: receivesMax },
    })
  }
}
