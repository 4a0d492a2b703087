/** Query of a table or an index; and Scan, for tests only. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { checkCondition, headsOf } from '../expressions/check.ts'
import { meets } from '../expressions/evaluate.ts'
import { parseFilter, parseKeyCondition, parseProjection } from '../expressions/parse-condition.ts'
import { project } from '../expressions/project.ts'
import { type Scope, scopeOf } from '../expressions/scope.ts'
import type { Condition, Path } from '../expressions/syntax.ts'
import { itemBytes } from '../plain.ts'
import type { Row, Rows } from '../rows.ts'
import { type KeySchema, keyAttributes, keyText, primaryKey } from '../schema.ts'
import type { TableData } from '../table-data.ts'
import type { Tables } from '../tables.ts'
import { type Attributes, checkedAttributes, compareTexts } from '../values.ts'
import { keyRange } from './key-condition.ts'
import { type Answer, oneOf, onlyKnown, type Request } from './request.ts'

const PAGE_BYTES_MAX = 1024 * 1024 // Query API reference

const SCAN_MEMBERS = [
  'TableName',
  'IndexName',
  'ConsistentRead',
  'ExclusiveStartKey',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'FilterExpression',
  'Limit',
  'ProjectionExpression',
  'Select',
]
const KNOWN_OF_SCAN: ReadonlySet<string> = new Set(SCAN_MEMBERS)
const KNOWN_OF_QUERY: ReadonlySet<string> = new Set([...SCAN_MEMBERS, 'KeyConditionExpression', 'ScanIndexForward'])

interface Source {
  readonly table: TableData
  readonly schema: KeySchema
  readonly rows: Rows
}

interface Reading {
  readonly filter: Condition | undefined
  readonly projection: readonly Path[] | undefined
  readonly scope: Scope
  readonly limit: number
  readonly countsOnly: boolean
}

export function query(tables: Tables, request: Request): Answer {
  onlyKnown(request, KNOWN_OF_QUERY)
  if (request.KeyConditionExpression === undefined) {
    throw validationError('The KeyConditionExpression parameter must be specified in the request.')
  }
  const condition = parseKeyCondition(request.KeyConditionExpression)
  const reading = readReading(request, [condition])
  checkCondition(condition.tree, reading.scope)
  const source = sourceOf(tables, request)
  if (reading.filter !== undefined) refuseKeysIn(reading.filter, source.schema, reading.scope)
  const range = keyRange(condition.tree, source.schema, reading.scope)
  const partition = source.rows.partition(range.hash)
  let from = firstWhere(partition, (row) => !range.isBefore(row))
  let to = firstWhere(partition, (row) => range.isBehind(row))
  const backwards = request.ScanIndexForward === false
  const start = startOf(source, request, range.hash)
  if (start !== undefined) {
    if (backwards)
      to = Math.min(
        to,
        firstWhere(partition, (row) => source.rows.compare(row, start) >= 0),
      )
    else
      from = Math.max(
        from,
        firstWhere(partition, (row) => source.rows.compare(row, start) > 0),
      )
  }
  const rows = partition.slice(from, to)
  return page(source, backwards ? rows.reverse() : rows, reading)
}

export function scan(tables: Tables, request: Request): Answer {
  onlyKnown(request, KNOWN_OF_SCAN)
  const reading = readReading(request, [])
  const source = sourceOf(tables, request)
  const start = startOf(source, request)
  const rows = [...source.rows.all()].sort((a, b) => compareTexts(a.primary, b.primary))
  const from = start === undefined ? 0 : firstWhere(rows, (row) => compareTexts(row.primary, start.primary) > 0)
  return page(source, rows.slice(from), reading)
}

function readReading(request: Request, others: Parameters<typeof scopeOf>[1]): Reading {
  const filter = request.FilterExpression === undefined ? undefined : parseFilter(request.FilterExpression)
  const projection =
    request.ProjectionExpression === undefined ? undefined : parseProjection(request.ProjectionExpression)
  const scope = scopeOf(request, [...others, filter, projection])
  if (filter !== undefined) checkCondition(filter.tree, scope)
  const limit = request.Limit ?? Number.POSITIVE_INFINITY
  if (typeof limit !== 'number' || limit < 1) {
    throw validationError(`Value '${String(limit)}' at 'limit' must be greater than or equal to 1`)
  }
  const select = oneOf(request, 'Select', [
    '',
    'COUNT',
    'ALL_ATTRIBUTES',
    'ALL_PROJECTED_ATTRIBUTES',
    'SPECIFIC_ATTRIBUTES',
  ])
  return { filter: filter?.tree, projection: projection?.tree, scope, limit, countsOnly: select === 'COUNT' }
}

/** A filter must not name key attributes, which belong in the key condition. */
function refuseKeysIn(filter: Condition, schema: KeySchema, scope: Scope): void {
  const keys = keyAttributes(schema).map(({ name }) => name)
  const key = headsOf(filter, scope).find((head) => keys.includes(head))
  if (key === undefined) return
  throw validationError(`Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key}`)
}

function sourceOf(tables: Tables, request: Request): Source {
  const table = tables.table(request.TableName)
  if (request.IndexName === undefined) return { table, schema: table.schema, rows: table.items }
  const index = table.index(String(request.IndexName))
  if (index === undefined) {
    throw validationError(`The table does not have the specified index: ${String(request.IndexName)}`)
  }
  if (request.ConsistentRead === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes')
  }
  return { table, ...index }
}

/** The row before the page; the row need not exist any more. */
function startOf({ table, schema }: Source, request: Request, hash?: string): Row | undefined {
  if (request.ExclusiveStartKey === undefined) return undefined
  const item = checkedAttributes(request.ExclusiveStartKey)
  const names = startKeyNames(table, schema)
  if (Object.keys(item).length !== names.size || ![...names].every((name) => item[name] !== undefined)) {
    throw validationError('The provided starting key is invalid')
  }
  if (hash !== undefined && keyText(item[schema.hash.name]) !== hash) {
    throw validationError('The provided starting key is outside query boundaries based on provided conditions')
  }
  return { primary: primaryKey(table.schema, item), item }
}

function startKeyNames(table: TableData, schema: KeySchema): ReadonlySet<string> {
  return new Set([...keyAttributes(table.schema), ...keyAttributes(schema)].map(({ name }) => name))
}

/** One page of the rows, as large as one answer allows; a full page names its last row, even if no row follows. */
function page({ table, schema }: Source, rows: readonly Row[], reading: Reading): Answer {
  const { filter, projection, scope, limit } = reading
  const items: Attributes[] = []
  let scanned = 0
  let bytes = 0
  let last: Attributes | undefined
  for (const { item } of rows) {
    if (filter === undefined || meets(item, filter, scope)) {
      items.push(projection === undefined ? item : project(item, projection, scope))
    }
    scanned++
    bytes += itemBytes(item)
    if (scanned < limit && bytes < PAGE_BYTES_MAX) continue
    last = item
    break
  }
  const answer: Answer = { Count: items.length, ScannedCount: scanned }
  if (!reading.countsOnly) answer.Items = items
  if (last !== undefined) answer.LastEvaluatedKey = keyOf(last, startKeyNames(table, schema))
  return answer
}

function keyOf(item: Attributes, names: ReadonlySet<string>): Attributes {
  return Object.fromEntries([...names].flatMap((name) => (item[name] ? [[name, item[name]] as const] : [])))
}

function firstWhere(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    const row = rows[middle]
    if (row !== undefined && holds(row)) to = middle
    else from = middle + 1
  }
  return from
}
