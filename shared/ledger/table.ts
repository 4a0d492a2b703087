/** The table: its keys, its indexes, and the reads and writes of the ledger's modules. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type * as z from 'zod'
import { sayingRetry, withDeadline } from '../aws/client.ts'
import { sha256 } from '../base/digest.ts'
import { Dead, nameOf, Retry } from '../base/errors.ts'
import { CONFLICT_RETRY_MS, CONFLICT_TRIES_MAX, DUE_SHARDS } from '../base/limits.ts'
import { type Stored, storedAs, without } from '../base/schema.ts'
import type { Timings } from '../fleet/timings.ts'
import type { ReviewName } from '../runs/review.ts'

/** A connection to the ledger, made once per container at module scope. */
export interface Ledger {
  readonly client: DynamoDBDocumentClient
  readonly table: string
  readonly timings: Timings
}

/** A primary key. */
export interface Key {
  readonly pk: string
  readonly sk: string
}

export type Item = Record<string, unknown>
type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

/** Opens the ledger in `table`; every call has a deadline, absent members are left out, and nothing is sent yet. */
export function openLedger(table: string, timings: Timings): Ledger {
  const client = sayingRetry(new DynamoDBClient({ requestHandler: withDeadline() }))
  return {
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    table,
    timings,
  }
}

/** Every key of the table; no other file composes keys. */
export const keyOf = {
  run: (runId: string): Key => ({ pk: `RUN#${runId}`, sk: 'RUN' }),
  review: (name: ReviewName): Key => ({
    pk: `RUN#${name.runId}`,
    sk: `REVIEW#${name.planKey}#${name.lens}#${name.part}`,
  }),
  thread: (repositoryId: number, number: number): Key => ({ pk: `PR#${repositoryId}#${number}`, sk: 'THREAD' }),
  entry: (repositoryId: number, number: number, sequence: number): Key => ({
    pk: `PR#${repositoryId}#${number}`,
    sk: `ENTRY#${String(sequence).padStart(10, '0')}`,
  }),
  event: (repositoryId: number, number: number, cause: string): Key => ({
    pk: `PR#${repositoryId}#${number}`,
    sk: `EVENT#${cause}`,
  }),
  message: (repositoryId: number, number: number, runId: string, planKey: string, key: string): Key => ({
    pk: `PR#${repositoryId}#${number}`,
    sk: `MESSAGE#${runId}#${planKey}#${key}`,
  }),
  resources: (repositoryId: number, number: number): Key => ({ pk: `PR#${repositoryId}#${number}`, sk: 'SHOWN' }),
  fleet: (): Key => ({ pk: 'FLEET#main', sk: 'FLEET' }),
  queue: (repositoryId: number, pool: string): Key => ({ pk: 'FLEET#main', sk: `WAITING#${repositoryId}#${pool}` }),
  ticket: (repositoryId: number, pool: string, turn: number, reviewId: string, epoch: number): Key => ({
    pk: `QUEUE#${repositoryId}#${pool}`,
    sk: `${String(turn).padStart(15, '0')}#${reviewId}#${epoch}`,
  }),
  budget: (installationId: number): Key => ({ pk: `BUDGET#${installationId}`, sk: 'BUDGET' }),
  halts: (): Key => ({ pk: 'HALT#main', sk: 'HALT' }),
} as const

/** Attributes that put an item into the `due` index; an item without the attributes is done. */
export function due(key: Key, dueAt: number): { duePk: string; dueAt: number } {
  return { duePk: `DUE#${dueShardOf(key)}`, dueAt }
}

/** The shard of a key: the same for ever, evenly spread. */
export function dueShardOf(key: Key): number {
  return Number.parseInt(sha256(`${key.pk} ${key.sk}`).slice(0, 8), 16) % DUE_SHARDS
}

/** The time at which an item is due, ms UTC; undefined for a done item. */
export function dueAtOf({ dueAt }: Item): number | undefined {
  return typeof dueAt === 'number' ? dueAt : undefined
}

/** Members of items that belong to the table. */
const OF_TABLE = ['pk', 'sk', 'duePk', 'dueAt', 'listedPk', 'listedAt', 'expiresAt'] as const

/** An item as `schema` describes it. Throws Dead `item_invalid` for a misfit. */
export function itemAs<Schema extends z.ZodType>(schema: Schema, item: Item): Stored<Schema> {
  return partAs(schema, item, item)
}

/** An item without the table's own members, in the same way. */
export function contentAs<Schema extends z.ZodType>(schema: Schema, item: Item): Stored<Schema> {
  return partAs(schema, item, without(item, OF_TABLE))
}

/** A part of an item, in the same way. */
export function partAs<Schema extends z.ZodType>(schema: Schema, item: Item, part: unknown): Stored<Schema> {
  return storedAs(schema, part, (member) => {
    const kind = [item.pk, item.sk].map((key) => String(key).split('#', 1)[0]).join('/')
    const sentence = `The item ${kind} has another ${member} than this version expects.`
    return new Dead('item_invalid', sentence, 'Deploy the version that wrote it, or a newer one.')
  })
}

/** Reads an item consistently: decisions read the base table. */
export async function readItem(ledger: Ledger, key: Key, signal?: AbortSignal): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: ledger.table, Key: key, ConsistentRead: true })
  return (await ledger.client.send(command, options(signal))).Item
}

/** Reads an item consistently, and returns the value that `from` makes of the item. */
export async function read<T>(
  ledger: Ledger,
  key: Key,
  from: (item: Item) => T,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const item = await readItem(ledger, key, signal)
  return item && from(item)
}

/**
 * Reads at most `limit` items of one partition whose sort key begins with `prefix`, in order and consistently, and
 * returns the values that `from` makes of the items.
 */
export async function readPrefix<T>(
  ledger: Ledger,
  { pk, prefix, limit }: { readonly pk: string; readonly prefix: string; readonly limit: number },
  from: (item: Item) => T,
): Promise<T[]> {
  const items: T[] = []
  let after: QueryCommandInput['ExclusiveStartKey']
  do {
    const page = await ledger.client.send(
      new QueryCommand({
        TableName: ledger.table,
        KeyConditionExpression: prefix === '' ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: prefix === '' ? { ':pk': pk } : { ':pk': pk, ':prefix': prefix },
        ConsistentRead: true,
        Limit: limit - items.length,
        ...(after ? { ExclusiveStartKey: after } : {}),
      }),
    )
    items.push(...(page.Items ?? []).map(from))
    after = page.LastEvaluatedKey
  } while (after && items.length < limit)
  return items
}

/**
 * The answer to a conditional write: done carries the item as of before a change, a refusal carries the item as it is.
 */
export type Written =
  | { readonly done: true; readonly before?: Item | undefined }
  | { readonly done: false; readonly item: Item | undefined }

/** Puts an item that must not exist yet. A refusal by our own first try (same `writer` nonce, AW32) counts as done. */
export async function create(
  ledger: Ledger,
  item: Key & Item & { writer: string },
  signal?: AbortSignal,
): Promise<Written> {
  const written = await conditional(() =>
    ledger.client.send(
      new PutCommand({
        TableName: ledger.table,
        Item: item,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
      options(signal),
    ),
  )
  return !written.done && written.item?.writer === item.writer ? { done: true } : written
}

/** A change of an item: plain members to set and to remove, under equality conditions on other members. */
export interface Change {
  readonly set?: Item
  readonly remove?: readonly string[]
  /** Members that must be equal; `undefined` requires an absent member. */
  readonly if: Item
}

/** Changes an item under a condition. */
export async function change(ledger: Ledger, key: Key, wanted: Change, signal?: AbortSignal): Promise<Written> {
  const update = { ...updateOf(ledger, key, wanted), ReturnValues: 'ALL_OLD' } as const
  return conditional(() => ledger.client.send(new UpdateCommand(update), options(signal)))
}

/** The same change as a member of a transaction. */
export function changeInTransaction(ledger: Ledger, key: Key, wanted: Change): TransactItem {
  const { TableName, Key: itemKey, UpdateExpression = '', ...rest } = updateOf(ledger, key, wanted)
  return { Update: { TableName, Key: itemKey, UpdateExpression, ...rest } }
}

/** Runs a conditional write; a refused condition is a value, everything else rejects. Compared by name (AW25). */
export async function conditional(write: () => Promise<{ Attributes?: Item | undefined }>): Promise<Written> {
  try {
    return { done: true, before: (await write()).Attributes }
  } catch (error) {
    if (nameOf(error) !== 'ConditionalCheckFailedException') throw error
    return { done: false, item: unmarshalled((error as { Item?: unknown }).Item) }
  }
}

/**
 * The answer to a transaction: done, the positions of the members that refused, or a conflict with another transaction.
 */
export type Transacted =
  | { readonly done: true }
  | { readonly done: false; readonly refused: readonly number[]; readonly conflict: boolean }

/** Writes all of it or nothing. `TransactionConflict` is not retried by the SDK: the caller reads and decides again. */
export async function transact(ledger: Ledger, items: TransactItem[]): Promise<Transacted> {
  try {
    await ledger.client.send(new TransactWriteCommand({ TransactItems: items }))
    return { done: true }
  } catch (error) {
    if (nameOf(error) === 'TransactionConflictException') return { done: false, refused: [], conflict: true }
    if (nameOf(error) !== 'TransactionCanceledException') throw error
    const reasons = (error as { CancellationReasons?: { Code?: string }[] }).CancellationReasons ?? []
    const refused = reasons.flatMap(({ Code }, index) => (Code === 'ConditionalCheckFailed' ? [index] : []))
    const conflict = reasons.some(({ Code }) => Code === 'TransactionConflict')
    if (refused.length === 0 && !conflict) throw error
    return { done: false, refused, conflict }
  }
}

/**
 * Read, decide, write: repeats `once` until it answers something else than `again`. Between tries it waits a random
 * time that grows (full jitter), at most about two seconds in all. Throws Retry `busy` when the tries are used up.
 */
export async function contended<T>(once: () => Promise<T | 'again'>, random: () => number = Math.random): Promise<T> {
  for (let round = 0; round < CONFLICT_TRIES_MAX; round += 1) {
    const answer = await once()
    if (answer !== 'again') return answer
    await new Promise((resolve) => setTimeout(resolve, random() * Math.min(300, 10 * 2 ** round)))
  }
  throw new Retry('busy', 'The same item was changed by others at every try.', CONFLICT_RETRY_MS)
}

function updateOf(ledger: Ledger, key: Key, wanted: Change): UpdateCommandInput {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const name = (member: string) => {
    names[`#${member}`] = member
    return `#${member}`
  }
  const sets = Object.entries(wanted.set ?? {}).filter(([, value]) => value !== undefined)
  const setExpression = sets.map(([member, value]) => {
    values[`:${member}`] = value
    return `${name(member)} = :${member}`
  })
  const conditions = Object.entries(wanted.if).map(([member, value]) => {
    if (value === undefined) return `attribute_not_exists(${name(member)})`
    values[`:if_${member}`] = value
    return `${name(member)} = :if_${member}`
  })
  const removes = (wanted.remove ?? []).map(name)
  return {
    TableName: ledger.table,
    Key: key,
    UpdateExpression: [
      setExpression.length > 0 ? `SET ${setExpression.join(', ')}` : '',
      removes.length > 0 ? `REMOVE ${removes.join(', ')}` : '',
    ]
      .join(' ')
      .trim(),
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** The exception's item arrives in DynamoDB's own form even through the document client. */
function unmarshalled(item: unknown): Item | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  return unmarshall(item as Parameters<typeof unmarshall>[0])
}

function options(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal ? { abortSignal: signal } : {}
}
