/** The `due` index: the items with outstanding work. The index finds items and never decides. */
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

/** A due item, as read from the base table. */
export type DueItem = { readonly dueAt: number } & DueThing

type DueThing =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'event'; readonly event: PullRequestEvent }
  | { readonly kind: 'message'; readonly message: Message }
  /** Names the run whose resource is due first. */
  | { readonly kind: 'resources'; readonly resources: PullRequestName & { readonly runId: string } }
  | { readonly kind: 'fleet' }
  /** A damaged item, or an item of a newer version; `why` is the error. */
  | { readonly kind: 'unknown'; readonly why: unknown }

const rowSchema = z.object({ pk: z.string(), sk: z.string(), dueAt: z.number() })

/** Keys that were due at `now` (ms UTC): the oldest of each shard, at most DUE_PAGE per shard. */
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
    // A value and no exception, so that the sweeper can postpone the row before the error, like any row.
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

/** Postpones an item to `at` (ms UTC) if its `dueAt` is as read, so that the item goes to the back. */
export async function postponeDue(ledger: Ledger, key: Key, before: number, at: number): Promise<void> {
  await change(ledger, key, { set: due(key, at), if: { dueAt: before } })
}

/** The kind of the item that a key names, for a log line. */
export function kindOfKey({ sk }: Key): string {
  return sk.split('#', 1)[0] ?? ''
}
