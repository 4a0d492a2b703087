/**
 * The ledger's table as an immutable value: a request makes a new table, whole and at once. Equal items are one object.
 */
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { apply } from '../simulation/services/table/expressions/apply.ts'
import { meets } from '../simulation/services/table/expressions/evaluate.ts'
import { parseCondition } from '../simulation/services/table/expressions/parse-condition.ts'
import { parseUpdate } from '../simulation/services/table/expressions/parse-update.ts'
import { scopeOf } from '../simulation/services/table/expressions/scope.ts'
import type { Attributes } from '../simulation/services/table/values.ts'

/** A stored item, with a number for its content. */
export interface Stored {
  readonly id: number
  readonly attributes: Attributes
  readonly plain: Readonly<Record<string, unknown>>
  /** The item as seen by programs that ignore due times: without members for repeated requests and for the index. */
  readonly seen: Stored
}

/** By partition and sort key, in key order. */
export type Snapshot = ReadonlyMap<string, Stored>

/** A request to the table, with its expressions' values in DynamoDB's form. */
export interface TableRequest {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The document client's answer: an output, or the name of an error and the item in the error. */
export interface TableAnswer {
  /** Equal answers have equal keys. */
  readonly key: string
  readonly output?: Readonly<Record<string, unknown>>
  readonly refusedBy?: { readonly item: Attributes | undefined }
}

const stored = new Map<string, Stored>()

/** The SDK's type of the same values is a union; ours is open. */
const plainOf = (attributes: Attributes) => unmarshall(attributes as Parameters<typeof unmarshall>[0])

export function storedOf(plain: object): Stored {
  return interned(marshall(plain, { removeUndefinedValues: true }) as Attributes)
}

function interned(attributes: Attributes): Stored {
  const text = canonical(attributes)
  const known = stored.get(text)
  if (known) return known
  const id = stored.size
  const plain = Object.freeze(plainOf(attributes))
  const item: Stored = {
    id,
    attributes,
    plain,
    get seen() {
      return seenOf(item)
    },
  }
  stored.set(text, item)
  return item
}

const seenItems = new Map<Stored, Stored>()

function seenOf(item: Stored): Stored {
  const known = seenItems.get(item)
  if (known) return known
  const { duePk: _duePk, dueAt: _dueAt, ...attributes } = item.attributes
  const { writer: _writer, slots, ...fleet } = attributes
  const isFleet = item.attributes.sk?.S === 'FLEET'
  const seen = interned(isFleet ? { ...fleet, slots: { M: withoutGrantors(slots?.M ?? {}) } } : attributes)
  seenItems.set(item, seen)
  return seen
}

function withoutGrantors(slots: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(slots).map(([id, slot]) => {
      const { by: _by, ...members } = slot.M ?? {}
      return [id, { M: members }]
    }),
  )
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${name}:${canonical(member)}`).join(',')}}`
}

export const keyText = (key: { pk?: unknown; sk?: unknown }): string => `${String(key.pk)} ${String(key.sk)}`

/** A request of the document client as data, with values in DynamoDB's form. */
export function requestOf(command: object): TableRequest {
  const { input } = command as { input: Record<string, unknown> }
  const operation = command.constructor.name.replace(/Command$/, '')
  const values = input.ExpressionAttributeValues
  const marshalled = values ? marshall(values as object, { removeUndefinedValues: true }) : undefined
  return { operation, input: { ...input, ...(marshalled ? { ExpressionAttributeValues: marshalled } : {}) } }
}

/** A request's answer, and the table afterwards. `whole`: the answer includes the members that serve only the index. */
export function perform(
  table: Snapshot,
  { operation, input }: TableRequest,
  whole: boolean,
): { table: Snapshot; answer: TableAnswer } {
  switch (operation) {
    case 'Get': {
      const found = table.get(keyText(input.Key as object))
      const item = whole ? found : found?.seen
      return { table, answer: { key: `got ${item?.id}`, output: item ? { Item: item.plain } : {} } }
    }
    case 'Query': {
      const items = queried(table, input)
      const key = `queried ${items.map(({ id }) => id).join(' ')}`
      return { table, answer: { key, output: { Items: items.map(({ plain }) => plain) } } }
    }
    case 'Put':
      return write(table, input, keyText(input.Item as object), () => storedOf(input.Item as object))
    case 'Delete':
      return write(table, input, keyText(input.Key as object), () => undefined)
    case 'Update': {
      const update = parseUpdate(String(input.UpdateExpression))
      const scope = scopeOf(input, [update, ...conditionsOf(input)])
      const key = storedOf(input.Key as object).attributes
      return write(table, input, keyText(input.Key as object), (before) =>
        interned(apply(before?.attributes ?? key, update.tree, scope)),
      )
    }
    default:
      throw new Error(`${operation} is not one of the model's`)
  }
}

function conditionsOf(input: TableRequest['input']) {
  return input.ConditionExpression === undefined ? [] : [parseCondition(String(input.ConditionExpression))]
}

function write(
  table: Snapshot,
  input: TableRequest['input'],
  key: string,
  after: (before: Stored | undefined) => Stored | undefined,
): { table: Snapshot; answer: TableAnswer } {
  const before = table.get(key)
  for (const condition of conditionsOf(input)) {
    const update = input.UpdateExpression === undefined ? [] : [parseUpdate(String(input.UpdateExpression))]
    const scope = scopeOf(input, [condition, ...update])
    if (meets(before?.attributes ?? {}, condition.tree, scope)) continue
    const item = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? before?.seen : undefined
    return { table, answer: { key: `refused ${item?.id}`, refusedBy: { item: item?.attributes } } }
  }
  const old = input.ReturnValues === 'ALL_OLD' ? before?.seen : undefined
  const output = old ? { Attributes: old.plain } : {}
  return { table: having(table, key, after(before)), answer: { key: `done ${old?.id}`, output } }
}

function having(table: Snapshot, key: string, item: Stored | undefined): Snapshot {
  if (table.get(key) === item) return table
  const next = new Map(table)
  if (!item) next.delete(key)
  else next.set(key, item)
  return !item || table.has(key) ? next : new Map([...next].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The ledger only reads prefixes of a partition. */
function queried(table: Snapshot, input: TableRequest['input']): Stored[] {
  const values = plainOf(input.ExpressionAttributeValues as Attributes) as Record<string, string>
  const prefix = `${values[':pk']} ${values[':prefix'] ?? ''}`
  const items = [...table].flatMap(([key, item]) => (key.startsWith(prefix) ? [item] : []))
  return items.slice(0, Number(input.Limit))
}
