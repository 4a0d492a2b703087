/** One write of one item: parsed from a request, then decided. The four kinds differ in their effect on the item. */
import { ServiceError, validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { apply } from '../expressions/apply.ts'
import { checkCondition, checkUpdate, targetsOf } from '../expressions/check.ts'
import { meets } from '../expressions/evaluate.ts'
import { parseCondition } from '../expressions/parse-condition.ts'
import { parseUpdate } from '../expressions/parse-update.ts'
import { type Scope, scopeOf } from '../expressions/scope.ts'
import type { Action, Condition } from '../expressions/syntax.ts'
import { itemBytes } from '../plain.ts'
import { checkIndexKeys, checkItemKey, checkKey, checkTargets, primaryKey } from '../schema.ts'
import type { TableData } from '../table-data.ts'
import type { TableChange, Tables, WriteKind } from '../tables.ts'
import { type Attributes, checkedAttributes } from '../values.ts'
import { oneOf, onlyKnown, type Request } from './request.ts'

export const ITEM_BYTES_MAX = 400 * 1024

export interface Write {
  readonly kind: WriteKind
  readonly tableName: unknown
  /** The whole item of a put, the key of any other write. */
  readonly attributes: Attributes
  readonly condition: Condition | undefined
  readonly actions: readonly Action[]
  readonly scope: Scope
  readonly returnsFound: boolean
}

const OF_ALL = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
]
const MEMBERS: Readonly<Record<WriteKind, ReadonlySet<string>>> = {
  Put: new Set([...OF_ALL, 'Item']),
  Update: new Set([...OF_ALL, 'Key', 'UpdateExpression']),
  Delete: new Set([...OF_ALL, 'Key']),
  ConditionCheck: new Set([...OF_ALL, 'Key']),
}

/** Parses a write and makes all checks that need no table. Throws ValidationException. */
export function readWrite(kind: WriteKind, request: Request): Write {
  onlyKnown(request, MEMBERS[kind])
  const condition = request.ConditionExpression === undefined ? undefined : parseCondition(request.ConditionExpression)
  const update = request.UpdateExpression === undefined ? undefined : parseUpdate(request.UpdateExpression)
  const scope = scopeOf(request, [condition, update])
  if (condition !== undefined) checkCondition(condition.tree, scope)
  if (update !== undefined) checkUpdate(update.tree, scope)
  return {
    kind,
    tableName: request.TableName,
    attributes: checkedAttributes(kind === 'Put' ? request.Item : request.Key),
    condition: condition?.tree,
    actions: update?.tree ?? [],
    scope,
    returnsFound: oneOf(request, 'ReturnValuesOnConditionCheckFailure', ['NONE', 'ALL_OLD']) === 'ALL_OLD',
  }
}

/** The primary key of the written item. Throws ValidationException for a malformed key. */
export function primaryOf(table: TableData, write: Write): string {
  if (write.kind === 'Put') checkItemKey(table.schema, write.attributes)
  else checkKey(table.schema, write.attributes)
  return primaryKey(table.schema, write.attributes)
}

/** The change that a write would make now. Throws ConditionalCheckFailedException, or ValidationException. */
export function decide(tables: Tables, table: TableData, write: Write): TableChange {
  const { schema, items } = table
  const primary = primaryOf(table, write)
  if (write.kind === 'Put') checkIndexKeys(schema, write.attributes)
  if (write.kind === 'Update') checkTargets(schema, targetsOf(write.actions, write.scope))
  const before = items.get(primary)?.item
  tables.counts.writes[write.kind]++
  if (write.condition !== undefined && !meets(before ?? {}, write.condition, write.scope)) {
    tables.counts.refused++
    const found = write.returnsFound && before !== undefined ? { Item: before } : {}
    throw new ServiceError('ConditionalCheckFailedException', 'The conditional request failed', found)
  }
  return { table, primary, before, after: after(table, write, before) }
}

function after(table: TableData, write: Write, before: Attributes | undefined): Attributes | undefined {
  switch (write.kind) {
    case 'Put':
      if (itemBytes(write.attributes) > ITEM_BYTES_MAX) {
        throw validationError('Item size has exceeded the maximum allowed size')
      }
      return write.attributes
    case 'Update': {
      const item = apply(before ?? write.attributes, write.actions, write.scope)
      checkIndexKeys(table.schema, item)
      if (itemBytes(item) > ITEM_BYTES_MAX) {
        throw validationError('Item size to update has exceeded the maximum allowed size')
      }
      return item
    }
    case 'Delete':
      return undefined
    case 'ConditionCheck':
      return before
  }
}
