/** What each operation does, and whether anything else may run meanwhile. */
import type { CompletedTransactions } from './completed.ts'
import { type Answer, type Operation, operations, perform, type Request, type Store, validate } from './dynalite.ts'
import {
  describeContinuousBackups,
  describeTimeToLive,
  forgetSettings,
  updateContinuousBackups,
  updateTimeToLive,
} from './settings.ts'
import { attempt, writeOne } from './staging.ts'
import { transactGet, transactWrite } from './transactions.ts'

export interface Handler {
  /**
   * `exclusive` for what reads or changes several things as one. Single writes share: dynalite locks the item, and
   * reads share with them, so that no read sees half a transaction.
   */
  readonly mode: 'shared' | 'exclusive'
  readonly run: (store: Store, request: Request, completed: CompletedTransactions) => Promise<Answer>
}

const SINGLE_WRITES: readonly Operation[] = ['PutItem', 'UpdateItem', 'DeleteItem']
const TABLE_CHANGES: readonly Operation[] = ['CreateTable', 'UpdateTable']

/** The handlers by name of operation. */
export const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...operations.map((operation): [string, Handler] => [operation, passThrough(operation)]),
  ...SINGLE_WRITES.map((operation): [string, Handler] => [operation, singleWrite(operation)]),
  ['BatchWriteItem', { mode: 'exclusive', run: batchWrite }],
  ['DeleteTable', { mode: 'exclusive', run: deleteTable }],
  [
    'TransactWriteItems',
    { mode: 'exclusive', run: (store, request, completed) => transactWrite(store, completed, request) },
  ],
  ['TransactGetItems', { mode: 'exclusive', run: transactGet }],
  ['DescribeTimeToLive', { mode: 'shared', run: describeTimeToLive }],
  ['UpdateTimeToLive', { mode: 'exclusive', run: updateTimeToLive }],
  ['DescribeContinuousBackups', { mode: 'shared', run: describeContinuousBackups }],
  ['UpdateContinuousBackups', { mode: 'exclusive', run: updateContinuousBackups }],
])

function passThrough(operation: Operation): Handler {
  return {
    mode: TABLE_CHANGES.includes(operation) ? 'exclusive' : 'shared',
    run: async (store, request) => perform(store, operation, validate(store, operation, request)),
  }
}

function singleWrite(operation: Operation): Handler {
  return {
    mode: 'shared',
    run: async (store, request) => {
      const returnFound = request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'
      return writeOne(store, operation, validate(store, operation, request), returnFound)
    },
  }
}

/** DynamoDB promises less: here the puts and deletes of a batch are one, so that they need no other way to the disk. */
async function batchWrite(store: Store, request: Request): Promise<Answer> {
  const result = await attempt(store, 'BatchWriteItem', validate(store, 'BatchWriteItem', request), false)
  if ('refused' in result) throw result.refused
  await store.db.batch(result.writes)
  return result.answer
}

async function deleteTable(store: Store, request: Request): Promise<Answer> {
  const answer = await perform(store, 'DeleteTable', validate(store, 'DeleteTable', request))
  await forgetSettings(store, String(request.TableName))
  return answer
}
