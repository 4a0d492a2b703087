/** SQS in memory, synchronous. A receive never waits: the poller decides when to ask again. */
import { sqsActions } from '../../../infra/local/sqs/actions.ts'
import { accountId, type QueueAttributes, queueArn } from '../../../infra/local/sqs/attributes.ts'
import { receiveSchema, shown, systemAttributes } from '../../../infra/local/sqs/receive.ts'
import { queueOf, type SqsState } from '../../../infra/local/sqs/state.ts'
import type { Waiters } from '../../../infra/local/sqs/waiters.ts'
import { jsonService } from './json-service.ts'
import { memoryMessages } from './queues/messages.ts'
import { memoryQueues } from './queues/queues.ts'
import type { SimulatedService, WorldClock } from './service.ts'

/** A message in the form that Lambda gives a function. */
export interface QueueRecord {
  readonly messageId: string
  readonly receiptHandle: string
  readonly body: string
  readonly attributes: Readonly<Record<string, string>>
  readonly messageAttributes: Readonly<Record<string, never>>
  readonly md5OfBody: string
  readonly eventSource: 'aws:sqs'
  readonly eventSourceARN: string
}

/** A message in a queue, for tests and invariants. Times are ms UTC. */
export interface QueuedMessage {
  readonly id: string
  readonly body: string
  readonly groupId: string | undefined
  readonly receives: number
  readonly sentAt: number
  readonly visibleAt: number
}

export interface SimulatedQueues extends SimulatedService {
  /** Makes a queue and returns its URL on `host`. Attributes are CreateQueue's. */
  create(name: string, attributes?: QueueAttributes, host?: string): string
  /** Receives up to `max` visible messages for the queue's visibility timeout, like an event source. */
  receive(name: string, max: number): QueueRecord[]
  /** Throws `InvalidParameterValue` for an expired handle. */
  delete(name: string, receiptHandle: string): void
  /** Throws `MessageNotInflight` if no message is in flight under the handle. */
  changeVisibility(name: string, receiptHandle: string, seconds: number): void
  /**
   * The next time, ms UTC, at which a message becomes visible by time alone; undefined if no message waits for time.
   */
  nextVisibleAt(name: string): number | undefined
  /** All messages of a queue, in order of arrival. */
  messages(name: string): QueuedMessage[]
  /** Calls `look` with the queue's name after a send, or after a request that may have made messages visible. */
  onChange(look: (name: string) => void): void
}

/** An account without queues. */
export function simulatedQueues({ now }: { readonly now: WorldClock }): SimulatedQueues {
  const messages = memoryMessages(now, (name) => queues.find(name))
  const queues = memoryQueues()
  const listeners: ((name: string) => void)[] = []

  /** Nothing waits in the simulation; `onChange` listeners are called instead. */
  const waiters: Waiters = {
    ended: false,
    end() {},
    wait: () => Promise.reject(new Error('a simulated receive does not wait')),
    notify(id) {
      const changed = queues.byId(id)
      if (changed) for (const listener of listeners) listener(changed.name)
    },
  }
  const state: SqsState = { queues, messages, waiters }
  const service = jsonService('queues', {
    target: 'AmazonSQS',
    version: '1.0',
    errorNamespace: 'com.amazonaws.sqs',
    actions: {
      ...sqsActions(state),
      ReceiveMessage(input) {
        const { MaxNumberOfMessages, MessageSystemAttributeNames } = receiveSchema.parse(input)
        const taken = messages.receive(queueOf(queues, input), MaxNumberOfMessages)
        return taken.length === 0 ? {} : { Messages: taken.map((one) => shown(one, MessageSystemAttributeNames)) }
      },
    },
  })

  return {
    answer: (request) => service.answer(request),
    create: (name, attributes = {}, host = 'sqs.simulated') =>
      `http://${host}/${accountId}/${queues.create(name, attributes).name}`,
    receive: (name, max) =>
      messages.receive(queues.get(name), max).map((message) => ({
        messageId: message.id,
        receiptHandle: message.handle,
        body: message.body,
        attributes: systemAttributes(message, ['All']),
        messageAttributes: {},
        md5OfBody: message.body_md5,
        eventSource: 'aws:sqs',
        eventSourceARN: queueArn(name),
      })),
    delete: (name, receiptHandle) => messages.delete(queues.get(name), receiptHandle),
    changeVisibility: (name, receiptHandle, seconds) =>
      messages.changeVisibility(queues.get(name), receiptHandle, seconds),
    nextVisibleAt(name) {
      const wait = messages.untilNextVisibleMs(queues.get(name))
      return wait === undefined ? undefined : now() + wait
    },
    messages: (name) =>
      messages.held(queues.get(name)).map(({ id, message, receives, sentAt, visibleAt }) => ({
        id,
        body: message.body,
        groupId: message.groupId,
        receives,
        sentAt,
        visibleAt,
      })),
    onChange: (look) => void listeners.push(look),
  }
}
