/** Events: what the command room is to do for a pull request, written once per cause before the webhook is answered. */
import * as z from 'zod'
import { RETENTION_S } from '../base/limits.ts'
import { type PullRequestEvent, type RecordedEvent, recordedEventSchema } from '../runs/event.ts'
import { change, create, due, type Item, itemAs, keyOf, type Ledger, read } from './table.ts'

const itemSchema = z.intersection(recordedEventSchema, z.object({ state: z.enum(['open', 'done']) }))

/** Reads an event from an item. */
export function eventFrom(item: Item) {
  return itemAs(itemSchema, item)
}

/** Writes an event once: `known` for an equal event, `conflict` for the same cause with another meaning (LE15). */
export async function acceptEvent(
  ledger: Ledger,
  event: PullRequestEvent,
  options: { writer: string; now: number; signal: AbortSignal },
): Promise<'recorded' | 'known' | 'conflict'> {
  const key = keyOfEvent(event)
  const written = await create(
    ledger,
    {
      ...key,
      ...event,
      state: 'open',
      acceptedAt: options.now,
      writer: options.writer,
      expiresAt: Math.floor(options.now / 1000) + RETENTION_S,
      ...due(key, options.now + ledger.timings.recheckMs),
    },
    options.signal,
  )
  if (written.done) return 'recorded'
  return written.item && digestOf(eventFrom(written.item)) === digestOf(event) ? 'known' : 'conflict'
}

/** An open event; undefined if the event is done, or was never written. */
export async function openEvent(
  ledger: Ledger,
  name: { repositoryId: number; number: number; cause: string },
): Promise<RecordedEvent | undefined> {
  const event = await read(ledger, keyOf.event(name.repositoryId, name.number, name.cause), eventFrom)
  return event?.state === 'open' ? event : undefined
}

/** The event can't be done yet: it is due again at `at` (ms UTC). */
export async function postponeEvent(ledger: Ledger, event: PullRequestEvent, at: number): Promise<void> {
  const key = keyOfEvent(event)
  await change(ledger, key, { set: due(key, at), if: { state: 'open' } })
}

/** Marks the event as done and takes it off the `due` index. Repeatable. */
export async function finishEvent(ledger: Ledger, event: PullRequestEvent): Promise<void> {
  await change(ledger, keyOfEvent(event), {
    set: { state: 'done' },
    remove: ['duePk', 'dueAt'],
    if: { state: 'open' },
  })
}

function keyOfEvent({ repository, number, cause }: PullRequestEvent) {
  return keyOf.event(repository.id, number, cause)
}

function digestOf(event: PullRequestEvent): string | undefined {
  return event.kind === 'command' ? event.payloadDigest : undefined
}
