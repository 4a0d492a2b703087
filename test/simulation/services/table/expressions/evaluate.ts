/** Decides whether an item meets a condition. */
import { type Attributes, type AttributeValue, compareValues, equal, typeOf } from '../values.ts'
import { aliased, type Scope, valueAt } from './scope.ts'
import type { Comparator, Condition, Operand } from './syntax.ts'

/** A missing item counts as an item without attributes. */
export function meets(item: Attributes, condition: Condition, scope: Scope): boolean {
  const resolved = (operand: Operand | undefined) => resolve(item, operand, scope)
  switch (condition.kind) {
    case 'and':
      return meets(item, condition.left, scope) && meets(item, condition.right, scope)
    case 'or':
      return meets(item, condition.left, scope) || meets(item, condition.right, scope)
    case 'not':
      return !meets(item, condition.of, scope)
    case 'compare':
      return holds(condition.comparator, resolved(condition.left), resolved(condition.right))
    case 'between': {
      const value = resolved(condition.of)
      return holds('>=', value, resolved(condition.low)) && holds('<=', value, resolved(condition.high))
    }
    case 'in': {
      const value = resolved(condition.of)
      return condition.options.some((option) => holds('=', value, resolved(option)))
    }
    case 'call':
      return answerOf(condition.name, resolved(condition.operands[0]), resolved(condition.operands[1]))
  }
}

function resolve(item: Attributes, operand: Operand | undefined, scope: Scope): AttributeValue | undefined {
  if (operand === undefined) return undefined
  if (operand.kind === 'value') return aliased(operand, scope)
  if (operand.kind === 'path') return valueAt(item, operand, scope)
  const size = sizeOf(resolve(item, operand.of, scope))
  return size === undefined ? undefined : { N: String(size) }
}

function holds(comparator: Comparator, left: AttributeValue | undefined, right: AttributeValue | undefined): boolean {
  const both = left !== undefined && right !== undefined
  if (comparator === '=') return both && equal(left, right)
  if (comparator === '<>') return !both || !equal(left, right) // an absent value equals nothing
  const order = both ? compareValues(left, right) : undefined
  if (order === undefined) return false
  switch (comparator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

function answerOf(
  name: Extract<Condition, { kind: 'call' }>['name'],
  first: AttributeValue | undefined,
  second: AttributeValue | undefined,
): boolean {
  switch (name) {
    case 'attribute_exists':
      return first !== undefined
    case 'attribute_not_exists':
      return first === undefined
    case 'attribute_type':
      return first !== undefined && typeOf(first) === second?.S
    case 'begins_with':
      return beginsWith(first, second)
    case 'contains':
      return first !== undefined && second !== undefined && contains(first, second)
  }
}

function beginsWith(value: AttributeValue | undefined, prefix: AttributeValue | undefined): boolean {
  if (value?.S !== undefined && prefix?.S !== undefined) return value.S.startsWith(prefix.S)
  if (value?.B === undefined || prefix?.B === undefined) return false
  return bytes(value.B).subarray(0, bytes(prefix.B).length).equals(bytes(prefix.B))
}

function contains(whole: AttributeValue, part: AttributeValue): boolean {
  if (whole.L !== undefined) return whole.L.some((each) => equal(each, part))
  if (part.S !== undefined) return (whole.S ?? whole.SS)?.includes(part.S) ?? false
  if (part.N !== undefined) return whole.NS?.includes(part.N) ?? false
  if (part.B === undefined) return false
  return whole.B === undefined ? (whole.BS?.includes(part.B) ?? false) : bytes(whole.B).includes(bytes(part.B))
}

function sizeOf(value: AttributeValue | undefined): number | undefined {
  if (value?.S !== undefined) return value.S.length
  if (value?.B !== undefined) return bytes(value.B).length
  if (value?.M !== undefined) return Object.keys(value.M).length
  return (value?.L ?? value?.SS ?? value?.NS ?? value?.BS)?.length
}

function bytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}
