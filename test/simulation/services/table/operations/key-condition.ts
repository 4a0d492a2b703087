/** The rows of a partition that a query selects. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { aliased, type Scope, stepsOf } from '../expressions/scope.ts'
import type { Comparator, Condition, Operand } from '../expressions/syntax.ts'
import type { Row } from '../rows.ts'
import { type KeyAttribute, type KeySchema, keyText } from '../schema.ts'
import { type AttributeValue, compareValues } from '../values.ts'

type Operator = Exclude<Comparator, '<>'> | 'between' | 'begins_with'

interface KeyPart {
  readonly name: string
  readonly operator: Operator
  readonly values: readonly AttributeValue[]
}

export interface KeyRange {
  readonly hash: string
  /** Whether a row lies before, or after, the selected rows. */
  isBefore(row: Row): boolean
  isBehind(row: Row): boolean
}

const MIRRORED: Readonly<Record<string, Operator>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

/** Reads a key condition: the hash key must be equal, the range key may be in a range. Throws ValidationException. */
export function keyRange(condition: Condition, schema: KeySchema, scope: Scope): KeyRange {
  const parts = partsOf(condition, scope)
  const hash = parts.find(({ name }) => name === schema.hash.name)
  const range = parts.find((part) => part !== hash)
  if (hash === undefined) throw validationError(`Query condition missed key schema element: ${schema.hash.name}`)
  if (parts.length > 2 || hash.operator !== '=') throw validationError('Query key condition not supported')
  checkType(schema.hash, hash)
  if (range !== undefined) {
    if (range.name !== schema.range?.name) {
      throw validationError(`Query condition missed key schema element: ${schema.range?.name ?? schema.hash.name}`)
    }
    checkType(schema.range, range)
  }
  return { hash: keyText(hash.values[0]), ...limits(range) }
}

function limits(part: KeyPart | undefined): Pick<KeyRange, 'isBefore' | 'isBehind'> {
  if (part === undefined) return { isBefore: () => false, isBehind: () => false }
  const { name, operator } = part
  const [low = {}, high = low] = part.values
  const order = (row: Row, to: AttributeValue) => compareValues(row.item[name] ?? {}, to) ?? 0
  switch (operator) {
    case '=':
    case 'between':
      return { isBefore: (row) => order(row, low) < 0, isBehind: (row) => order(row, high) > 0 }
    case '<':
      return { isBefore: () => false, isBehind: (row) => order(row, low) >= 0 }
    case '<=':
      return { isBefore: () => false, isBehind: (row) => order(row, low) > 0 }
    case '>':
      return { isBefore: (row) => order(row, low) <= 0, isBehind: () => false }
    case '>=':
      return { isBefore: (row) => order(row, low) < 0, isBehind: () => false }
    case 'begins_with':
      return {
        isBefore: (row) => order(row, low) < 0,
        isBehind: (row) => order(row, low) > 0 && row.item[name]?.S?.startsWith(low.S ?? '') !== true,
      }
  }
}

function partsOf(condition: Condition, scope: Scope): KeyPart[] {
  switch (condition.kind) {
    case 'and': {
      const parts = [...partsOf(condition.left, scope), ...partsOf(condition.right, scope)]
      if (new Set(parts.map(({ name }) => name)).size < parts.length) {
        throw validationError('KeyConditionExpressions must only contain one condition per key')
      }
      return parts
    }
    case 'compare':
      if (condition.comparator === '<>') return refuseOperator('<>')
      if (condition.left.kind === 'value') {
        const operator = MIRRORED[condition.comparator] ?? refuseOperator(condition.comparator)
        return [part(operator, condition.right, [condition.left], scope)]
      }
      return [part(condition.comparator, condition.left, [condition.right], scope)]
    case 'between':
      return [part('between', condition.of, [condition.low, condition.high], scope)]
    case 'call': {
      const [first, ...others] = condition.operands
      if (condition.name !== 'begins_with' || first === undefined) return refuseOperator(condition.name)
      const prefix = part('begins_with', first, others, scope)
      return prefix.values[0]?.S === undefined ? refuseOperator('begins_with on other than text') : [prefix]
    }
    default:
      return refuseOperator(condition.kind.toUpperCase())
  }
}

function part(operator: Operator, key: Operand, operands: readonly Operand[], scope: Scope): KeyPart {
  if (key.kind !== 'path')
    throw validationError('Invalid condition in KeyConditionExpression: No key attribute specified')
  const [name, ...rest] = stepsOf(key, scope)
  if (typeof name !== 'string' || rest.length > 0) {
    throw validationError('KeyConditionExpressions cannot have conditions on nested attributes')
  }
  const values = operands.map((operand) => {
    if (operand.kind === 'value') return aliased(operand, scope)
    throw validationError('Invalid condition in KeyConditionExpression: a key is compared with values only')
  })
  return { name, operator, values }
}

function checkType({ type }: KeyAttribute, { values }: KeyPart): void {
  if (values.every((value) => value[type] !== undefined)) return
  throw validationError(
    'One or more parameter values were invalid: Condition parameter type does not match schema type',
  )
}

function refuseOperator(operator: string): never {
  throw validationError(`Invalid operator used in KeyConditionExpression: ${operator}`)
}
