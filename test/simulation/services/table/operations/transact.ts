/** TransactWriteItems and TransactGetItems. */
import { ServiceError, validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { itemBytes } from '../plain.ts'
import type { TableData } from '../table-data.ts'
import type { TableChange, Tables, WriteKind } from '../tables.ts'
import type { CompletedTransactions } from './completed.ts'
import { type Answer, isObject, listOf, onlyKnown, type Request } from './request.ts'
import { getItem } from './single.ts'
import { decide, primaryOf, readWrite, type Write } from './write.ts'

const ACTIONS_MAX = 100 // TransactWriteItems API reference; TransactGetItems has the same limit
const BYTES_MAX = 4 * 1024 * 1024 // all items of one transaction together; same source
const KINDS: readonly WriteKind[] = ['Put', 'Update', 'Delete', 'ConditionCheck']
const MEMBERS: ReadonlySet<string> = new Set(['TransactItems', 'ClientRequestToken'])

interface Member {
  readonly table: TableData
  readonly write: Write
}

/**
 * Writes everything or nothing. Throws `TransactionCanceledException` with one reason for each action,
 * `IdempotentParameterMismatchException`, or `ValidationException` for a malformed transaction.
 */
export function transactWrite(tables: Tables, request: Request, completed: CompletedTransactions): Answer {
  onlyKnown(request, MEMBERS)
  const writes = listOf(request.TransactItems, 'transactItems', ACTIONS_MAX).map(readAction)
  const token = request.ClientRequestToken
  if (typeof token === 'string' && completed.has(token, request.TransactItems)) return {}
  const members = writes.map((write): Member => ({ table: tables.table(write.tableName), write }))
  refuseSharedItems(members)

  const conflicts = tables.conflictsOf(
    'TransactWriteItems',
    members.map(({ table, write }) => ({ table, key: write.attributes })),
  )
  if (conflicts.length > 0) throw cancelled(members.map((_, position) => conflictAt(conflicts, position)))
  const decided = members.map(({ table, write }) => attempt(() => decide(tables, table, write)))
  const refusals = decided.map((each) => (each instanceof ServiceError ? each : undefined))
  if (refusals.some((each) => each !== undefined)) throw cancelled(refusals)
  const changes = decided.filter((each): each is TableChange => !(each instanceof ServiceError))
  if (changes.reduce((sum, { after }) => sum + (after ? itemBytes(after) : 0), 0) > BYTES_MAX) {
    throw validationError('Transaction size cannot exceed 4194304 bytes')
  }
  tables.commit(
    'TransactWriteItems',
    changes.filter((_, position) => members[position]?.write.kind !== 'ConditionCheck'),
  )
  if (typeof token === 'string') completed.remember(token, request.TransactItems)
  return {}
}

/** Reads up to 100 items at one moment. */
export function transactGet(tables: Tables, request: Request): Answer {
  onlyKnown(request, MEMBERS)
  const gets = listOf(request.TransactItems, 'transactItems', ACTIONS_MAX).map(({ Get }) => {
    if (isObject(Get)) return Get
    throw validationError('TransactItems can only contain Get')
  })
  return { Responses: gets.map((get) => getItem(tables, get)) }
}

function readAction(member: Request): Write {
  const [kind, ...others] = Object.keys(member) as WriteKind[]
  const request = kind === undefined ? undefined : member[kind]
  if (kind === undefined || others.length > 0 || !KINDS.includes(kind) || !isObject(request)) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  const required =
    kind === 'ConditionCheck' ? 'ConditionExpression' : kind === 'Update' ? 'UpdateExpression' : undefined
  if (required !== undefined && typeof request[required] !== 'string') {
    throw validationError(`The ${required} of the ${kind} in the transaction can't be empty`)
  }
  return readWrite(kind, request)
}

function refuseSharedItems(members: readonly Member[]): void {
  const seen = new Set<string>()
  for (const { table, write } of members) {
    const primary = attempt(() => primaryOf(table, write))
    if (primary instanceof ServiceError) continue // a malformed key becomes a reason of the cancelled transaction
    const item = `${table.schema.name} ${primary}`
    if (seen.has(item)) throw validationError('Transaction request cannot include multiple operations on one item')
    seen.add(item)
  }
}

function attempt<Result extends TableChange | string>(work: () => Result): Result | ServiceError {
  try {
    return work()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

function conflictAt(positions: readonly number[], position: number): ServiceError | undefined {
  if (!positions.includes(position)) return undefined
  return new ServiceError('TransactionConflict', 'Transaction is ongoing for the item')
}

/** A reason's name is the shortened error name of a single write. */
const REASON_OF: Readonly<Record<string, string>> = {
  ConditionalCheckFailedException: 'ConditionalCheckFailed',
  ValidationException: 'ValidationError',
}

function cancelled(refusals: readonly (ServiceError | undefined)[]): ServiceError {
  const reasons = refusals.map((refusal) => {
    if (refusal === undefined) return { Code: 'None' }
    return { Code: REASON_OF[refusal.name] ?? refusal.name, Message: refusal.message, ...refusal.members }
  })
  const codes = reasons.map(({ Code }) => Code).join(', ')
  return new ServiceError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  )
}
