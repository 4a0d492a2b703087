/** The operations that the ledger, the stack and their tests call, and whether other work may run meanwhile. */
import type { CompletedTransactions } from './completed.ts'
import { type Answer, type Operation, perform, type Request, type Store, validate } from './dynalite.ts'
import { writeOne } from './staging.ts'
import { transactWrite } from './transactions.ts'

export interface Handler {
  /**
   * `exclusive` for a change of several items as one. Single writes share: dynalite locks the item, and reads share
   * with them, so that no read sees half a transaction.
   */
  readonly mode: 'shared' | 'exclusive'
  readonly run: (store: Store, request: Request, completed: CompletedTransactions) => Promise<Answer>
}

/** Any other operation is answered as unknown. */
export const handlers: Readonly<Record<string, Handler>> = {
  CreateTable: passThrough('CreateTable', 'exclusive'),
  DescribeTable: passThrough('DescribeTable', 'shared'),
  GetItem: passThrough('GetItem', 'shared'),
  Query: passThrough('Query', 'shared'),
  Scan: passThrough('Scan', 'shared'),
  PutItem: singleWrite('PutItem'),
  UpdateItem: singleWrite('UpdateItem'),
  DeleteItem: singleWrite('DeleteItem'),
  TransactWriteItems: {
    mode: 'exclusive',
    run: (store, request, completed) => transactWrite(store, completed, request),
  },
}

function passThrough(operation: Operation, mode: Handler['mode']): Handler {
  return { mode, run: async (store, request) => perform(store, operation, validate(store, operation, request)) }
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
