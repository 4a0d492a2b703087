/** The common steps of the contract's suites: make a queue, send, receive, delete, look. */
import { randomUUID } from 'node:crypto'
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs'

export interface SqsSubject {
  readonly client: SQSClient
  /** Lets `ms` of the service's time pass: a virtual clock moves, a real clock waits. At most 6 s a call. */
  passTime(ms: number): Promise<void>
  stop(): Promise<void>
}

/** The shortest span of queues that still tells before from after, so that a real clock is bearable. */
export const shortSeconds = 3

export type QueueKit = ReturnType<typeof createQueueKit>

export const bodies = (messages: Message[]): (string | undefined)[] => messages.map(({ Body }) => Body)

/** Queues get unique names, so that suites can share an account. */
export function createQueueKit(currentSubject: () => SqsSubject) {
  const prefix = `contract-${randomUUID().slice(0, 8)}`
  let made = 0
  /** The subject exists only once the suite runs. */
  const subject = {
    get client() {
      return currentSubject().client
    },
    passTime: (ms: number) => currentSubject().passTime(ms),
  }

  async function create(attributes: Record<string, string> = {}): Promise<string> {
    const created = await subject.client.send(
      new CreateQueueCommand({
        QueueName: `${prefix}-${++made}.fifo`,
        Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes },
      }),
    )
    return String(created.QueueUrl)
  }

  const attributesOf = async (QueueUrl: string): Promise<Record<string, string | undefined>> =>
    (await subject.client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {}

  /** Sends a message in a group of its own, unless `more` names a group. */
  const send = (QueueUrl: string, MessageBody: string, more: Partial<SendMessageCommandInput> = {}) =>
    subject.client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: randomUUID(), ...more }))

  async function receive(QueueUrl: string, more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
    const received = await subject.client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['All'],
        ...more,
      }),
    )
    return received.Messages ?? []
  }

  async function receiveOne(QueueUrl: string, more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message> {
    const [message] = await receive(QueueUrl, { MaxNumberOfMessages: 1, ...more })
    if (!message) throw new Error(`Expected a message in ${QueueUrl}, got none`)
    return message
  }

  async function remove(QueueUrl: string, { ReceiptHandle }: Message): Promise<void> {
    const Entries = [{ Id: 'only', ReceiptHandle }]
    throwFailure(await subject.client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })))
  }

  async function extend(QueueUrl: string, { ReceiptHandle }: Message, VisibilityTimeout: number): Promise<void> {
    const Entries = [{ Id: 'only', ReceiptHandle, VisibilityTimeout }]
    throwFailure(await subject.client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })))
  }

  /** Holds a source with a dead-letter queue after `receivesMax` receives. */
  async function withDeadLetters(receivesMax: number) {
    const deadLetters = await create()
    const arn = (await attributesOf(deadLetters)).QueueArn
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: receivesMax })
    const source = await create({ RedrivePolicy, VisibilityTimeout: '0' })
    return { source, deadLetters }
  }

  return { prefix, subject, create, attributesOf, send, receive, receiveOne, remove, extend, withDeadLetters }
}

/** A batch with a single entry, as an error of its own. */
function throwFailure({ Failed = [] }: { Failed?: BatchResultErrorEntry[] | undefined }): void {
  for (const { Code, Message } of Failed) throw Object.assign(new Error(Message), { name: Code })
}
