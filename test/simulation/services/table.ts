/** DynamoDB in memory, synchronous: holds the ledger in the simulation. */
import { ServiceError } from '../../../infra/local/dynamodb/errors.ts'
import type { SimulatedService, WireAnswer, WireRequest } from './service.ts'
import {
  createTable,
  describeContinuousBackups,
  describeTable,
  describeTimeToLive,
  updateContinuousBackups,
  updateTimeToLive,
} from './table/operations/administration.ts'
import { batchGet, batchWrite } from './table/operations/batch.ts'
import { CompletedTransactions } from './table/operations/completed.ts'
import { query, scan } from './table/operations/query.ts'
import { type Answer, isObject, type Request } from './table/operations/request.ts'
import { deleteItem, getItem, putItem, updateItem } from './table/operations/single.ts'
import { transactGet, transactWrite } from './table/operations/transact.ts'
import { type PlainItem, plainItem } from './table/plain.ts'
import { primaryKey } from './table/schema.ts'
import { type Commit, type TableCounts, Tables, type TablesOptions } from './table/tables.ts'

export type { PlainItem } from './table/plain.ts'
export type { Commit, TableCounts, TablesOptions, WriteAttempt } from './table/tables.ts'

export interface SimulatedTable extends SimulatedService {
  /** Counts up to now; the object keeps counting. */
  readonly counts: TableCounts
  /** Makes a table from the input of CreateTable. */
  create(table: Request): void
  /** The frozen items of all tables with these key prefixes, in the order of their first store. */
  items(pk?: string, sk?: string): PlainItem[]
  /** One item's current state. */
  item(key: { readonly pk: string; readonly sk: string }): PlainItem | undefined
  /** Calls `look` after each change of one item, or of several items as one. An error of `look` fails the request. */
  onCommit(look: (commit: Commit) => void): void
}

type Operation = (tables: Tables, request: Request, completed: CompletedTransactions) => Answer

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['GetItem', getItem],
  ['PutItem', putItem],
  ['UpdateItem', updateItem],
  ['DeleteItem', deleteItem],
  ['Query', query],
  ['Scan', scan],
  ['TransactWriteItems', transactWrite],
  ['TransactGetItems', transactGet],
  ['BatchGetItem', batchGet],
  ['BatchWriteItem', batchWrite],
  ['CreateTable', createTable],
  ['DescribeTable', describeTable],
  ['DescribeTimeToLive', describeTimeToLive],
  ['UpdateTimeToLive', updateTimeToLive],
  ['DescribeContinuousBackups', describeContinuousBackups],
  ['UpdateContinuousBackups', updateContinuousBackups],
])

const TARGET_PREFIX = 'DynamoDB_20120810.'
const ERROR_PREFIX = 'com.amazonaws.dynamodb.v20120810#'

/**
 * A DynamoDB without tables. Answers and errors are DynamoDB's, but a feature that isn't simulated is a
 * ValidationException. Reads of tables see the newest state; indexes may lag.
 */
export function simulatedTable(options: TablesOptions): SimulatedTable {
  const tables = new Tables(options)
  const completed = new CompletedTransactions(options.now)
  let requests = 0

  function perform(request: WireRequest): Answer {
    const target = request.headers['x-amz-target'] ?? ''
    const name = target.startsWith(TARGET_PREFIX) ? target.slice(TARGET_PREFIX.length) : ''
    const operation = OPERATIONS.get(name)
    if (operation === undefined) throw new ServiceError('UnknownOperationException', `Unknown operation: ${target}`)
    tables.counts.requests[name] = (tables.counts.requests[name] ?? 0) + 1
    return operation(tables, parsed(request.body), completed)
  }

  function headers(): WireAnswer['headers'] {
    requests++
    return { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': `table-${requests}` }
  }

  return {
    counts: tables.counts,
    create: (table) => void createTable(tables, table),
    items(pk = '', sk = '') {
      const found: PlainItem[] = []
      for (const table of tables.all()) {
        for (const { item } of table.items.all()) {
          if (item.pk?.S?.startsWith(pk) && item.sk?.S?.startsWith(sk)) found.push(plainItem(item))
        }
      }
      return found
    },
    item({ pk, sk }) {
      for (const { schema, items } of tables.all()) {
        const row = items.get(primaryKey(schema, { pk: { S: pk }, sk: { S: sk } }))
        if (row !== undefined) return plainItem(row.item)
      }
      return undefined
    },
    onCommit: (look) => tables.onCommit(look),
    answer(request) {
      try {
        return { status: 200, headers: headers(), body: JSON.stringify(perform(request)) }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const { name, message, members } = error
        // Both spellings are in use; the SDK reads the spelling of the error's shape.
        const body = JSON.stringify({ __type: ERROR_PREFIX + name, message, Message: message, ...members })
        return { status: 400, headers: headers(), body }
      }
    },
  }
}

function parsed(body: string): Request {
  try {
    const request: unknown = JSON.parse(body)
    if (isObject(request)) return request
  } catch (error) {
    throw new ServiceError('SerializationException', 'The body is not JSON', {}, { cause: error })
  }
  throw new ServiceError('SerializationException', 'The body is not a JSON object')
}
