/** BatchGetItem and BatchWriteItem; nothing is ever left unprocessed. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import type { Tables } from '../tables.ts'
import { type Answer, isObject, listOf, onlyKnown, type Request } from './request.ts'
import { getItem } from './single.ts'
import { decide, primaryOf, readWrite } from './write.ts'

const GETS_MAX = 100 // BatchGetItem API reference
const WRITES_MAX = 25 // BatchWriteItem API reference
const KNOWN: ReadonlySet<string> = new Set(['RequestItems'])

export function batchGet(tables: Tables, request: Request): Answer {
  const responses = tablesOf(request).map(([TableName, asked]) => {
    if (!isObject(asked)) throw validationError('RequestItems must be a map of tables')
    const { Keys, ...rest } = asked
    const answers = listOf(Keys, 'keys', GETS_MAX).map((Key) => getItem(tables, { ...rest, TableName, Key }))
    return [TableName, answers.flatMap(({ Item }) => (Item === undefined ? [] : [Item]))] as const
  })
  return { Responses: Object.fromEntries(responses), UnprocessedKeys: {} }
}

export function batchWrite(tables: Tables, request: Request): Answer {
  const writes = tablesOf(request).flatMap(([TableName, members]) =>
    listOf(members, 'requestItems', WRITES_MAX).map(({ PutRequest, DeleteRequest }) => {
      if (isObject(PutRequest)) return readWrite('Put', { ...PutRequest, TableName })
      if (isObject(DeleteRequest)) return readWrite('Delete', { ...DeleteRequest, TableName })
      throw validationError('Supplied AttributeValue has neither a PutRequest nor a DeleteRequest')
    }),
  )
  const members = writes.map((write) => ({ table: tables.table(write.tableName), write }))
  const items = new Set(members.map(({ table, write }) => `${table.schema.name} ${primaryOf(table, write)}`))
  if (items.size < members.length) throw validationError('Provided list of item keys contains duplicates')
  tables.commit(
    'BatchWriteItem',
    members.map(({ table, write }) => decide(tables, table, write)),
  )
  return { UnprocessedItems: {} }
}

function tablesOf(request: Request): [string, unknown][] {
  onlyKnown(request, KNOWN)
  if (!isObject(request.RequestItems)) throw validationError('RequestItems is required')
  return Object.entries(request.RequestItems)
}
