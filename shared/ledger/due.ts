/** The `due` index: which items something must still happen to. It finds; it never decides. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { Dead } from '../base/errors.ts'
import { DUE_PAGE, DUE_SHARDS } from '../base/limits.ts'
import type { PullRequestEvent } from '../runs/event.ts'
import type { Review } from '../runs/review.ts'
import type { Run } from '../runs/run.ts'
import { eventFrom } from './event.ts'
import { type Message, messageFrom } from './message.ts'
import { nextRunOf, type PullRequestName, resourcesFrom } from './resource.ts'
import { reviewFrom } from './review.ts'
import { runFrom } from './run.ts'
import { change, due, dueAtOf, type Item, itemAs, type Key, type Ledger, readItem } from './table.ts'

/** An item that is due, as it stands in the base table now. */
export type DueItem = { readonly dueAt: number } & DueThing

type DueThing =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'event'; readonly event: PullRequestEvent }
  | { readonly kind: 'message'; readonly message: Message }
  /** With the run that raised what is due first. */
  | { readonly kind: 'resources'; readonly resources: PullRequestName & { readonly runId: string } }
  | { readonly kind: 'fleet' }
  /** Of a version that this one doesn't know, or damaged; `why` says so. */
  | { readonly kind: 'unknown'; readonly why: unknown }

const rowSchema = z.object({ pk: z.string(), sk: z.string(), dueAt: z.number() })

/** Keys that were due at `now` (ms UTC): the oldest of each shard, at most DUE_PAGE of one. */
export async function dueKeys(ledger: Ledger, now: number): Promise<Key[]> {
  const shards = await Promise.all(
    Array.from({ length: DUE_SHARDS }, async (_, shard) => {
      const page = await ledger.client.send(
        new QueryCommand({
          TableName: ledger.table,
          IndexName: 'due',
          KeyConditionExpression: 'duePk = :shard AND dueAt <= :now',
          ExpressionAttributeValues: { ':shard': `DUE#${shard}`, ':now': now },
          Limit: DUE_PAGE,
        }),
      )
      return (page.Items ?? []).map((row) => itemAs(rowSchema, row))
    }),
  )
  return shards
    .flat()
    .toSorted((a, b) => a.dueAt - b.dueAt)
    .map(({ pk, sk }) => ({ pk, sk }))
}

/** Reads a due key consistently; undefined if nothing is due for it any more. */
export async function readDue(ledger: Ledger, key: Key, now: number): Promise<DueItem | undefined> {
  const item = await readItem(ledger, key)
  const dueAt = item && dueAtOf(item)
  if (!item || dueAt === undefined || dueAt > now) return undefined
  try {
    return { ...thingOf(key, item), dueAt }
  } catch (why) {
    // A value, so that the row can be moved on first, as every row is.
    return { kind: 'unknown', why, dueAt }
  }
}

function thingOf({ sk }: Key, item: Item): DueThing {
  if (sk === 'RUN') return { kind: 'run', run: runFrom(item) }
  if (sk === 'FLEET') return { kind: 'fleet' }
  if (sk.startsWith('REVIEW#')) return { kind: 'review', review: reviewFrom(item) }
  if (sk.startsWith('EVENT#')) return { kind: 'event', event: eventFrom(item) }
  if (sk.startsWith('MESSAGE#')) return { kind: 'message', message: messageFrom(item) }
  if (sk === 'SHOWN') {
    const resources = resourcesFrom(item)
    const { repositoryId, number } = resources
    const runId = nextRunOf(resources)
    if (runId !== undefined) return { kind: 'resources', resources: { repositoryId, number, runId } }
  }
  throw new Dead('due_unknown', 'Nothing is known to do about it.', 'Deploy the version that wrote it.')
}

/** Moves an item's `due` on to `at` (ms UTC) if it is still due as it was read, so that it goes to the back. */
export async function postponeDue(ledger: Ledger, key: Key, before: number, at: number): Promise<void> {
  await change(ledger, key, { set: due(key, at), if: { dueAt: before } })
}

/** What kind of item a key names, for a log line. */
export function kindOfKey({ sk }: Key): string {
  return sk.split('#', 1)[0] ?? ''
}
