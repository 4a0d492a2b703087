/** The messages in the queues, in memory: order, visibility, group locks, deduplication, retention and dead letters. */
import { queueArn, visibilitySecondsMax } from '../../../../infra/local/sqs/attributes.ts'
import { invalidParameter, sqsError } from '../../../../infra/local/sqs/errors.ts'
import type { OutgoingMessage } from '../../../../infra/local/sqs/message.ts'
import type { Messages, ReceivedMessage, SentMessage } from '../../../../infra/local/sqs/messages.ts'
import type { Queue } from '../../../../infra/local/sqs/queues.ts'
import { receiptHandle, receiptOf } from '../../../../infra/local/sqs/receipt.ts'
import type { WorldClock } from '../service.ts'

/** A message in a queue. Times are ms UTC. */
export interface HeldMessage {
  readonly seq: number
  readonly id: string
  readonly message: OutgoingMessage
  sentAt: number
  /** Until then the message is in flight. */
  visibleAt: number
  receives: number
  firstReceivedAt: number | undefined
  lastReceivedAt: number
  sourceArn: string | undefined
}

export interface MemoryMessages extends Messages {
  /** All messages of a queue, in order of arrival. */
  held(queue: Queue): readonly HeldMessage[]
}

interface Deduplication {
  readonly sent: SentMessage
  readonly at: number
}

const DEDUPLICATION_MS = 5 * 60_000 // MessageDeduplicationId in the SQS API reference: five minutes from the first send

/** `findQueue` finds the queue of dead letters by its name. */
export function memoryMessages(now: WorldClock, findQueue: (name: string) => Queue | undefined): MemoryMessages {
  const byQueue = new Map<number, HeldMessage[]>()
  const deduplications = new Map<string, Deduplication>()
  let sent = 0

  function messagesOf(queue: Queue): HeldMessage[] {
    const known = byQueue.get(queue.id)
    if (known) return known
    const made: HeldMessage[] = []
    byQueue.set(queue.id, made)
    return made
  }

  function keep(queue: Queue, kept: (message: HeldMessage) => boolean): void {
    const messages = messagesOf(queue)
    if (!messages.every(kept)) byQueue.set(queue.id, messages.filter(kept))
  }

  function sendOne(queue: Queue, message: OutgoingMessage): SentMessage {
    const key = deduplicationKey(queue, message)
    const first = deduplications.get(key)
    if (first && now() - first.at < DEDUPLICATION_MS) return first.sent
    sent++
    const id = `00000000-0000-4000-8000-${sent.toString(16).padStart(12, '0')}`
    deduplications.set(key, { sent: { id, sequence: sent }, at: now() })
    messagesOf(queue).push({
      seq: sent,
      id,
      message,
      sentAt: now(),
      visibleAt: now(),
      receives: 0,
      firstReceivedAt: undefined,
      lastReceivedAt: 0,
      sourceArn: undefined,
    })
    return { id, sequence: sent }
  }

  function expire(queue: Queue): void {
    const before = now() - queue.settings.retentionSeconds * 1_000
    keep(queue, ({ sentAt }) => sentAt > before)
  }

  /** A message that was received as often as the queue allows moves to the dead letters instead of another receive. */
  function moveDeadLetters(queue: Queue): void {
    const policy = queue.settings.deadLetter
    const target = policy && findQueue(policy.queueName)
    if (!target) return
    const isDead = ({ receives, visibleAt }: HeldMessage) => receives >= policy.receivesMax && visibleAt <= now()
    const dead = messagesOf(queue).filter(isDead)
    if (dead.length === 0) return
    keep(queue, (message) => !isDead(message))
    for (const message of dead) {
      message.sourceArn = queueArn(queue.name)
      message.sentAt = now() // the retention clock restarts, as in every FIFO queue
    }
    const inTarget = [...messagesOf(target), ...dead].sort((a, b) => a.seq - b.seq)
    byQueue.set(target.id, inTarget)
  }

  /** A group with a message in flight is locked. */
  function ready(queue: Queue): HeldMessage[] {
    const messages = messagesOf(queue)
    const isVisible = ({ visibleAt }: HeldMessage) => visibleAt <= now()
    const locked = new Set(messages.filter((one) => !isVisible(one)).map(({ message }) => message.groupId))
    return messages.filter((one) => isVisible(one) && !locked.has(one.message.groupId))
  }

  /** The message of a receipt, whether in flight, visible again or received by another consumer. */
  function ofReceipt(queue: Queue, handle: string) {
    const receipt = receiptOf(queue, handle)
    const found = messagesOf(queue).find(({ id }) => id === receipt.messageId)
    return found && { found, isCurrent: found.receives === receipt.receives }
  }

  return {
    send: sendOne,

    receive(queue, max) {
      expire(queue)
      moveDeadLetters(queue)
      return ready(queue)
        .slice(0, max)
        .map((held) => {
          held.visibleAt = now() + queue.settings.visibilityTimeoutSeconds * 1_000
          held.receives++
          held.firstReceivedAt ??= now()
          held.lastReceivedAt = now()
          return received(queue, held)
        })
    },

    delete(queue, handle) {
      const receipt = ofReceipt(queue, handle)
      if (!receipt) return
      const { found, isCurrent } = receipt
      if (!isCurrent || found.visibleAt <= now()) {
        throw invalidParameter('ReceiptHandle', handle, 'The receipt handle has expired. Receive the message again.')
      }
      keep(queue, (message) => message !== found)
    },

    changeVisibility(queue, handle, seconds) {
      const receipt = ofReceipt(queue, handle)
      if (!receipt) {
        throw invalidParameter('ReceiptHandle', handle, 'The message does not exist, or has no visibility to change.')
      }
      const { found, isCurrent } = receipt
      if (!isCurrent || found.visibleAt <= now()) {
        throw sqsError('MessageNotInflight', 'The message referred to is not in flight under this handle.')
      }
      const until = now() + seconds * 1_000
      if (until - found.lastReceivedAt > visibilitySecondsMax * 1_000) {
        throw invalidParameter('VisibilityTimeout', seconds, 'The total for the message is beyond 43200 seconds.')
      }
      found.visibleAt = until
    },

    counts(queue) {
      expire(queue)
      const messages = messagesOf(queue)
      const inFlight = messages.filter(({ visibleAt }) => visibleAt > now()).length
      return { visible: messages.length - inFlight, inFlight }
    },

    untilNextVisibleMs(queue) {
      const waits = messagesOf(queue).flatMap(({ visibleAt }) => (visibleAt > now() ? [visibleAt - now()] : []))
      return waits.length === 0 ? undefined : Math.min(...waits)
    },

    returnFlights() {
      for (const message of [...byQueue.values()].flat()) {
        if (message.visibleAt > now()) message.visibleAt = now()
      }
    },

    held: (queue) => messagesOf(queue),
  }
}

function received(queue: Queue, held: HeldMessage): ReceivedMessage {
  const { seq, id, message } = held
  return {
    seq,
    id,
    sent_at: held.sentAt,
    receives: held.receives,
    first_received_at: held.firstReceivedAt ?? held.lastReceivedAt,
    group_id: message.groupId,
    deduplication_id: message.deduplicationId,
    source_arn: held.sourceArn ?? null,
    body_md5: message.bodyMd5,
    body: message.body,
    handle: receiptHandle({ queueId: queue.id, seq, receives: held.receives, messageId: id }),
  }
}

function deduplicationKey(queue: Queue, { groupId, deduplicationId }: OutgoingMessage): string {
  return `${queue.id} ${queue.settings.deduplicationByGroup ? groupId : ''} ${deduplicationId}`
}
