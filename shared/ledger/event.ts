/** Events: what the command room is to do for a pull request, written once per cause before the webhook is answered. */

import type { PullRequestEvent } from '../event.ts'
import { RETENTION_S } from '../limits.ts'
import { change, create, due, keyOf, type Ledger, read } from './table.ts'

/** Writes an event once; false if it was there already. */
export async function acceptEvent(
  ledger: Ledger,
  event: PullRequestEvent,
  options: { writer: string; now: number; signal: AbortSignal },
): Promise<boolean> {
  const key = keyOf.event(event.repository.id, event.number, event.cause)
  const written = await create(
    ledger,
    {
      ...key,
      ...event,
      state: 'open',
      writer: options.writer,
      expiresAt: Math.floor(options.now / 1000) + RETENTION_S,
      ...due(key, options.now + ledger.timings.lookMs),
    },
    options.signal,
  )
  return written.done
}

/** An event that is still to be done; undefined if it is done, or was never written. */
export async function openEvent(
  ledger: Ledger,
  name: { repositoryId: number; number: number; cause: string },
): Promise<PullRequestEvent | undefined> {
  const item = await read<PullRequestEvent & { state: string }>(
    ledger,
    keyOf.event(name.repositoryId, name.number, name.cause),
  )
  return item?.state === 'open' ? item : undefined
}

/** The event is done: nothing more is due for it. Repeatable. */
export async function finishEvent(ledger: Ledger, event: PullRequestEvent): Promise<void> {
  await change(ledger, keyOf.event(event.repository.id, event.number, event.cause), {
    set: { state: 'done' },
    remove: ['duePk', 'dueAt'],
    if: { state: 'open' },
  })
}
