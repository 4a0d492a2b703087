/** A FIFO queue of nudges, grouped by pull request, with its dead letters. */
import { Duration } from 'aws-cdk-lib'
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'

export interface NudgeQueueProps {
  /** Timeout of the function that the queue invokes. */
  readonly consumerTimeoutSeconds: number
}

/**
 * Functions that work on one queue at the same time. Each talks to GitHub for another pull request, and
 * GitHub allows an installation 100 requests at once and 80 new contents a minute.
 */
export const queueConcurrency = 10

/** A message stays hidden for this many timeouts of its consumer: AWS's own advice, for Lambda retries a throttled batch meanwhile. */
const visibilityTimeouts = 6

/** Receives until a message counts as one that crashes its consumer. */
const receivesMax = 5

/** The longest that SQS keeps a message. */
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
      // Order and deduplication are wanted within one pull request only; a busy one doesn't slow the others.
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: receivesMax },
    })
  }
}
