/** The checks that DynamoDB makes on an expression before any item is read. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { compareValues, typeOf, type ValueType } from '../values.ts'
import { aliased, type Scope, stepsOf } from './scope.ts'
import type { Action, Condition, Operand, SetValue } from './syntax.ts'

const ORDERED: readonly ValueType[] = ['S', 'N', 'B']
const VALUE_TYPES = ['S', 'N', 'B', 'NULL', 'SS', 'BOOL', 'L', 'BS', 'NS', 'M']

/** Checks the operands of a condition, as far as their types are known. */
export function checkCondition(condition: Condition, scope: Scope): void {
  switch (condition.kind) {
    case 'and':
    case 'or':
      checkCondition(condition.left, scope)
      checkCondition(condition.right, scope)
      return
    case 'not':
      checkCondition(condition.of, scope)
      return
    case 'compare':
      refuseSame(condition.comparator, condition.left, condition.right, scope)
      if (condition.comparator === '=' || condition.comparator === '<>') return
      checkTypes(condition.comparator, [condition.left, condition.right], ORDERED, scope)
      return
    case 'between':
      checkTypes('BETWEEN', [condition.of, condition.low, condition.high], ORDERED, scope)
      checkBounds(condition.low, condition.high, scope)
      return
    case 'in':
      return
    case 'call':
      checkCall(condition, scope)
  }
}

function checkCall({ name, operands }: Extract<Condition, { kind: 'call' }>, scope: Scope): void {
  const [first, second] = operands
  if (first !== undefined && second !== undefined) refuseSame(name, first, second, scope)
  if (name === 'begins_with') checkTypes(name, operands, ['S', 'B'], scope)
  if (name !== 'attribute_type') return
  const type = second?.kind === 'value' ? aliased(second, scope).S : undefined
  if (type === undefined || !VALUE_TYPES.includes(type)) refuse(`Invalid attribute type name found; type: ${type}`)
}

/** The names of the attributes in a condition. */
export function headsOf(condition: Condition, scope: Scope): string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return [...headsOf(condition.left, scope), ...headsOf(condition.right, scope)]
    case 'not':
      return headsOf(condition.of, scope)
    case 'compare':
      return headsIn([condition.left, condition.right], scope)
    case 'between':
      return headsIn([condition.of, condition.low, condition.high], scope)
    case 'in':
      return headsIn([condition.of, ...condition.options], scope)
    case 'call':
      return headsIn(condition.operands, scope)
  }
}

function headsIn(operands: readonly Operand[], scope: Scope): string[] {
  return operands.flatMap((operand) => {
    const path = operand.kind === 'size' ? operand.of : operand
    return path.kind === 'path' ? [String(stepsOf(path, scope)[0])] : []
  })
}

/** Refuses an update with overlapping paths, and checks the operands as far as their types are known. */
export function checkUpdate(actions: readonly Action[], scope: Scope): void {
  const paths = actions.map(({ path }) => stepsOf(path, scope))
  for (const [at, path] of paths.entries()) {
    for (const other of paths.slice(0, at)) refuseMeeting(other, path)
  }
  for (const action of actions) {
    if (action.kind === 'set') checkSetValue(action.value, scope)
    if (action.kind === 'add') checkTypes('ADD', [action.value], ['N', 'SS', 'NS', 'BS'], scope)
    if (action.kind === 'delete') checkTypes('DELETE', [action.value], ['SS', 'NS', 'BS'], scope)
  }
}

/** The path of each action of an update, and the type of its new value if known. */
export function targetsOf(actions: readonly Action[], scope: Scope): Target[] {
  return actions.map((action) => ({ steps: stepsOf(action.path, scope), type: typeLeft(action, scope) }))
}

export interface Target {
  readonly steps: readonly (string | number)[]
  readonly type: ValueType | undefined
}

function typeLeft(action: Action, scope: Scope): ValueType | undefined {
  if (action.kind === 'remove') return undefined
  return action.kind === 'set' ? typeOfSet(action.value, scope) : knownType(action.value, scope)
}

function typeOfSet(value: SetValue, scope: Scope): ValueType | undefined {
  switch (value.kind) {
    case 'plus':
    case 'minus':
      return 'N'
    case 'list_append':
      return 'L'
    case 'if_not_exists':
      return typeOfSet(value.otherwise, scope)
    default:
      return knownType(value, scope)
  }
}

function checkSetValue(value: SetValue, scope: Scope): void {
  switch (value.kind) {
    case 'plus':
    case 'minus':
      for (const each of [value.left, value.right]) {
        checkSetValue(each, scope)
        if (each.kind === 'value') checkTypes(value.kind === 'plus' ? '+' : '-', [each], ['N'], scope)
      }
      return
    case 'list_append':
      for (const each of [value.first, value.second]) {
        checkSetValue(each, scope)
        if (each.kind === 'value') checkTypes('list_append', [each], ['L'], scope)
      }
      return
    case 'if_not_exists':
      checkSetValue(value.otherwise, scope)
  }
}

function refuseMeeting(one: readonly (string | number)[], two: readonly (string | number)[]): void {
  for (let at = 0; at < one.length && at < two.length; at++) {
    if (typeof one[at] !== typeof two[at]) refuseTogether('conflict', one, two)
    if (one[at] !== two[at]) return
  }
  refuseTogether('overlap', one, two)
}

function refuseTogether(how: string, one: readonly (string | number)[], two: readonly (string | number)[]): never {
  return refuse(
    `Two document paths ${how} with each other; must remove or rewrite one of these paths; ` +
      `path one: [${one.join(', ')}], path two: [${two.join(', ')}]`,
  )
}

function checkTypes(operator: string, operands: readonly Operand[], allowed: readonly ValueType[], scope: Scope): void {
  for (const operand of operands) {
    const type = knownType(operand, scope)
    if (type === undefined || allowed.includes(type)) continue
    refuse(`Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`)
  }
}

function checkBounds(low: Operand, high: Operand, scope: Scope): void {
  if (low.kind !== 'value' || high.kind !== 'value') return
  const [least, most] = [aliased(low, scope), aliased(high, scope)]
  if (typeOf(least) !== typeOf(most)) {
    refuse('The BETWEEN operator requires same data type for lower and upper bounds')
  }
  if ((compareValues(least, most) ?? 0) > 0) {
    refuse('The BETWEEN operator requires upper bound to be greater than or equal to lower bound')
  }
}

function refuseSame(operator: string, one: Operand, two: Operand, scope: Scope): void {
  if (one.kind !== 'path' || two.kind !== 'path') return
  const [left, right] = [stepsOf(one, scope), stepsOf(two, scope)]
  if (left.length !== right.length || left.some((step, at) => step !== right[at])) return
  refuse(
    `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}`,
  )
}

function knownType(operand: Operand, scope: Scope): ValueType | undefined {
  if (operand.kind === 'value') return typeOf(aliased(operand, scope))
  return operand.kind === 'size' ? 'N' : undefined
}

function refuse(reason: string): never {
  throw validationError(`Invalid expression: ${reason}`)
}
