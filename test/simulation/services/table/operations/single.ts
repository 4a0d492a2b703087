/** PutItem, UpdateItem, DeleteItem and GetItem. */
import { ServiceError, validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { parseProjection } from '../expressions/parse-condition.ts'
import { project } from '../expressions/project.ts'
import { scopeOf } from '../expressions/scope.ts'
import { checkKey, primaryKey } from '../schema.ts'
import type { TableChange, Tables, WriteKind } from '../tables.ts'
import { type Attributes, checkedAttributes } from '../values.ts'
import { type Answer, oneOf, onlyKnown, type Request } from './request.ts'
import { decide, primaryOf, readWrite, type Write } from './write.ts'

export const putItem = singleWrite('PutItem', 'Put', ['NONE', 'ALL_OLD'])
export const deleteItem = singleWrite('DeleteItem', 'Delete', ['NONE', 'ALL_OLD'])
export const updateItem = singleWrite('UpdateItem', 'Update', [
  'NONE',
  'ALL_OLD',
  'ALL_NEW',
  'UPDATED_OLD',
  'UPDATED_NEW',
])

type Returned = 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW'

function singleWrite(operation: string, kind: WriteKind, returned: readonly [Returned, ...Returned[]]) {
  return (tables: Tables, request: Request): Answer => {
    const { ReturnValues, ...rest } = request
    const write = readWrite(kind, rest)
    const wanted = oneOf({ ReturnValues }, 'ReturnValues', returned)
    const table = tables.table(write.tableName)
    primaryOf(table, write)
    if (tables.conflictsOf(operation, [{ table, key: write.attributes }]).length > 0) {
      throw new ServiceError('TransactionConflictException', 'Transaction is ongoing for the item')
    }
    const change = decide(tables, table, write)
    tables.commit(operation, [change])
    const attributes = attributesFor(wanted, write, change)
    return attributes === undefined || Object.keys(attributes).length === 0 ? {} : { Attributes: attributes }
  }
}

function attributesFor(wanted: Returned, write: Write, { before, after }: TableChange): Attributes | undefined {
  const updated = (item: Attributes | undefined) =>
    item &&
    project(
      item,
      write.actions.map(({ path }) => path),
      write.scope,
    )
  switch (wanted) {
    case 'NONE':
      return undefined
    case 'ALL_OLD':
      return before
    case 'ALL_NEW':
      return after
    case 'UPDATED_OLD':
      return updated(before)
    case 'UPDATED_NEW':
      return updated(after)
  }
}

const GET_MEMBERS: ReadonlySet<string> = new Set([
  'TableName',
  'Key',
  'ConsistentRead',
  'ProjectionExpression',
  'ExpressionAttributeNames',
])

/** Every read sees the newest state, consistent or not: a delayed request shows the same as an older state. */
export function getItem(tables: Tables, request: Request): Answer {
  onlyKnown(request, GET_MEMBERS)
  const projection =
    request.ProjectionExpression === undefined ? undefined : parseProjection(request.ProjectionExpression)
  const scope = scopeOf(request, [projection])
  const key = checkedAttributes(request.Key)
  if (request.TableName === undefined) throw validationError('TableName is required')
  const { schema, items } = tables.table(request.TableName)
  checkKey(schema, key)
  const item = items.get(primaryKey(schema, key))?.item
  if (item === undefined) return {}
  return { Item: projection === undefined ? item : project(item, projection.tree, scope) }
}
