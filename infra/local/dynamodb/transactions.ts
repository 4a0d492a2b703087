/** TransactWriteItems. The caller lets nothing else run meanwhile. */
import type { CompletedTransactions } from './completed.ts'
import {
  type Answer,
  createKey,
  getTable,
  type Item,
  itemSize,
  type Request,
  type Store,
  validate,
  validateKey,
  type Write,
} from './dynalite.ts'
import { ServiceError, validationError } from './errors.ts'
import { type Attempt, attempt } from './staging.ts'

const ACTIONS_MAX = 100 // TransactWriteItems API reference
const BYTES_MAX = 4 * 1024 * 1024 // the items of one transaction together; same source

/** The operation that decides each kind of action. A check is a delete that is never written. */
const OPERATION_OF = {
  ConditionCheck: 'DeleteItem',
  Delete: 'DeleteItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
} as const

type Kind = keyof typeof OPERATION_OF

interface Action {
  readonly kind: Kind
  readonly request: Request
  readonly returnFound: boolean
}

/**
 * Writes everything or nothing, in one batch together with the client's token. Throws `TransactionCanceledException`
 * with one reason per action, `IdempotentParameterMismatchException`, or `ValidationException` for a malformed
 * transaction.
 */
export async function transactWrite(store: Store, completed: CompletedTransactions, request: Request): Promise<Answer> {
  const actions = membersOf(request).map((member) => readAction(store, member))
  const token = typeof request.ClientRequestToken === 'string' ? request.ClientRequestToken : undefined
  if (token !== undefined && completed.has(token, request.TransactItems)) return {}
  await refuseSharedItems(store, actions)

  const attempts = await Promise.all(
    actions.map(({ kind, request, returnFound }) => attempt(store, OPERATION_OF[kind], request, returnFound)),
  )
  if (attempts.some((each) => 'refused' in each)) throw cancelled(attempts)

  const writesOfEach = attempts.map((each, position) =>
    'refused' in each || actions[position]?.kind === 'ConditionCheck' ? [] : each.writes,
  )
  if (sizeOfItems(writesOfEach) > BYTES_MAX) throw validationError('Transaction size cannot exceed 4194304 bytes')
  const writes = writesOfEach.flat()
  if (token === undefined) await store.db.batch(writes)
  else await completed.commit(token, request.TransactItems, writes)
  return {}
}

function membersOf(request: Request): Request[] {
  const members: unknown = request.TransactItems
  if (!Array.isArray(members) || members.length < 1 || members.length > ACTIONS_MAX || !members.every(isObject)) {
    const rule = `Member must have length less than or equal to ${ACTIONS_MAX} and greater than or equal to 1`
    throw validationError(`1 validation error detected: Value at 'transactItems' failed to satisfy constraint: ${rule}`)
  }
  return members
}

function readAction(store: Store, member: Request): Action {
  const [kind, second] = (Object.keys(OPERATION_OF) as Kind[]).filter((each) => isObject(member[each]))
  const request = kind === undefined ? undefined : member[kind]
  if (kind === undefined || second !== undefined || !isObject(request)) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete')
  }
  const required =
    kind === 'ConditionCheck' ? 'ConditionExpression' : kind === 'Update' ? 'UpdateExpression' : undefined
  if (required !== undefined && typeof request[required] !== 'string') {
    throw validationError(`The ${required} of the ${kind} in the transaction can't be empty`)
  }
  return {
    kind,
    request: validate(store, OPERATION_OF[kind], request),
    returnFound: request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
  }
}

async function refuseSharedItems(store: Store, actions: readonly Action[]): Promise<void> {
  const seen = new Set<string>()
  for (const { request } of actions) {
    const table = await getTable(store, String(request.TableName))
    const key = keyOf(request, table)
    if (key === undefined) continue // the attempt reports a malformed key as one of its reasons
    const item = `${table.TableName} ${createKey(key, table)}`
    if (seen.has(item)) throw validationError('Transaction request cannot include multiple operations on one item')
    seen.add(item)
  }
}

function keyOf(request: Request, table: Awaited<ReturnType<typeof getTable>>): Item | undefined {
  const attributes = (request.Key ?? request.Item) as Item
  const named = table.KeySchema.map(({ AttributeName }) => AttributeName)
  const key = Object.fromEntries(named.flatMap((name) => (attributes[name] ? [[name, attributes[name]]] : [])))
  return validateKey(key, table) ? undefined : key
}

function cancelled(attempts: readonly Attempt[]): ServiceError {
  const reasons = attempts.map((each) => {
    if (!('refused' in each)) return { Code: 'None' }
    const { name, message, members } = each.refused
    return { Code: REASON_OF[name] ?? name, Message: message, ...members }
  })
  const codes = reasons.map(({ Code }) => Code).join(', ')
  return new ServiceError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  )
}

/** The names of reasons are the shortened names of the errors of single writes. */
const REASON_OF: Readonly<Record<string, string>> = {
  ConditionalCheckFailedException: 'ConditionalCheckFailed',
  ValidationException: 'ValidationError',
}

function sizeOfItems(writesOfEach: readonly (readonly Write[])[]): number {
  const items = writesOfEach.flatMap((writes) => {
    const last = writes.at(-1)
    return last?.type === 'put' ? [last.value as Item] : []
  })
  return items.reduce((sum, item) => sum + itemSize(item), 0)
}

function isObject(value: unknown): value is Request {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
