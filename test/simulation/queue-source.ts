/**
 * Lambda's event source of a FIFO queue: receives batches, invokes the room, deletes every message without a reported
 * failure.
 */
import type { RoomName } from '../../infra/rooms.ts'
import { newActor } from './kernel/actor.ts'
import type { InvocationEnd } from './kernel/container.ts'
import type { Functions } from './kernel/functions.ts'
import type { Scheduled, Timeline } from './kernel/timeline.ts'
import type { Trace } from './kernel/trace.ts'
import type { QueueRecord, SimulatedQueues } from './services/queues.ts'

export interface QueueSourceOptions {
  readonly timeline: Timeline
  readonly trace: Trace
  readonly functions: Functions
  readonly queues: SimulatedQueues
  /** Name of the queue. */
  readonly queue: string
  readonly consumer: RoomName
  /** Batches at work at once. */
  readonly concurrencyMax: number
  /** ms until a visible message is received. */
  readonly delayMs: () => number
  /** True if finished messages are not deleted this time: Lambda delivers at least once, and repeats them. */
  readonly forgets: () => boolean
}

/** Messages of one invocation: SQS's limit for FIFO queues. */
const BATCH_MAX = 10

/**
 * Starts receiving. Instead of polling, the source looks when a message comes, and when a message becomes visible
 * again.
 */
export function startQueueSource(options: QueueSourceOptions): void {
  const { timeline, trace, functions, queues, queue, consumer } = options
  const lambda = newActor(`source-of-${queue}`)
  let underWay = 0
  let look: (Scheduled & { readonly at: number }) | undefined
  queues.onChange((changed) => {
    if (changed === queue) recheckAt(timeline.now)
  })

  /** Looks at the time `at`, ms UTC, or a moment later; an earlier planned look stays. */
  function recheckAt(at: number): void {
    if (look !== undefined && look.at <= at) return
    look?.cancel()
    look = { at, ...timeline.after(at - timeline.now + options.delayMs(), lambda, receive) }
  }

  function receive(): void {
    look = undefined
    while (underWay < options.concurrencyMax) {
      const records = queues.receive(queue, BATCH_MAX)
      if (records.length === 0) break
      deliver(records)
    }
    const visibleAt = queues.nextVisibleAt(queue)
    if (visibleAt !== undefined && visibleAt > timeline.now) recheckAt(visibleAt)
  }

  function deliver(records: readonly QueueRecord[]): void {
    underWay += 1
    functions.invoke(consumer, JSON.stringify({ Records: records }), (end) => {
      underWay -= 1
      const unfinished = unfinishedOf(end, records)
      const done = records.filter(({ messageId }) => !unfinished.has(messageId))
      if (done.length > 0 && options.forgets()) {
        trace.add(timeline.now, lambda.name, `deletes nothing of ${done.length} that were done`)
      } else {
        for (const { receiptHandle } of done) queues.delete(queue, receiptHandle)
      }
      recheckAt(timeline.now)
    })
  }
}

/** The messages to repeat: all of a batch whose function failed, or answered without a valid report of failures. */
function unfinishedOf(end: InvocationEnd, records: readonly QueueRecord[]): ReadonlySet<string> {
  const all = new Set(records.map(({ messageId }) => messageId))
  if (end.kind === 'error') return all
  const report = JSON.parse(end.json) as { batchItemFailures?: readonly { itemIdentifier: string }[] } | null
  const ids = (report?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier)
  return ids.every((id) => all.has(id)) ? new Set(ids) : all
}
