/** Conditions, key conditions and filters share one grammar. NOT binds closer than AND, AND closer than OR. */
import type { BooleanFunction, Comparator, Condition, Operand, Path, Value } from './syntax.ts'
import { type Reader, remembering } from './tokens.ts'

const COMPARATORS: readonly Comparator[] = ['=', '<>', '<=', '>=', '<', '>']

/** The number of operands of each function. */
const OPERANDS_OF: Readonly<Record<BooleanFunction | 'size', number>> = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
  size: 1,
}

export const parseCondition = remembering('ConditionExpression', disjunction)
export const parseKeyCondition = remembering('KeyConditionExpression', disjunction)
export const parseFilter = remembering('FilterExpression', disjunction)
export const parseProjection = remembering('ProjectionExpression', (reader): Path[] => {
  const paths = [reader.path()]
  while (reader.takeSign(',')) paths.push(reader.path())
  return paths
})

function disjunction(reader: Reader): Condition {
  let left = conjunction(reader)
  while (reader.takeKeyword('OR')) left = { kind: 'or', left, right: conjunction(reader) }
  return left
}

function conjunction(reader: Reader): Condition {
  let left = negation(reader)
  while (reader.takeKeyword('AND')) left = { kind: 'and', left, right: negation(reader) }
  return left
}

function negation(reader: Reader): Condition {
  if (reader.takeKeyword('NOT')) return { kind: 'not', of: negation(reader) }
  if (!reader.takeSign('(')) return comparison(reader)
  if (reader.takeSign('(')) {
    const inner = disjunction(reader)
    reader.expectSign(')')
    if (reader.takeSign(')')) reader.refuse('The expression has redundant parentheses;')
    return closed(reader, continued(reader, inner))
  }
  return closed(reader, disjunction(reader))
}

/** Parses the rest after a nested parenthesis at the beginning of a group. */
function continued(reader: Reader, first: Condition): Condition {
  let left = first
  while (reader.takeKeyword('AND')) left = { kind: 'and', left, right: negation(reader) }
  while (reader.takeKeyword('OR')) left = { kind: 'or', left, right: conjunction(reader) }
  return left
}

function closed(reader: Reader, condition: Condition): Condition {
  reader.expectSign(')')
  return condition
}

function comparison(reader: Reader): Condition {
  const called = reader.takeCall()
  if (called !== undefined && called !== 'size') return call(reader, called)
  const left = called === 'size' ? size(reader) : operand(reader)
  const comparator = reader.takeOneOf(COMPARATORS)
  if (comparator !== undefined) return { kind: 'compare', comparator, left, right: operand(reader) }
  if (reader.takeKeyword('BETWEEN')) {
    const low = operand(reader)
    if (!reader.takeKeyword('AND')) reader.refuseHere()
    return { kind: 'between', of: left, low, high: operand(reader) }
  }
  if (reader.takeKeyword('IN')) {
    reader.expectSign('(')
    return { kind: 'in', of: left, options: reader.list(() => operand(reader)) }
  }
  return reader.refuseHere()
}

function call(reader: Reader, name: string): Condition {
  if (!isBooleanFunction(name)) reader.refuse(`Invalid function name; function: ${name}`)
  const operands = reader.list(() => operand(reader))
  checkCount(reader, name, operands)
  if (name.startsWith('attribute_') && operands[0]?.kind !== 'path') {
    reader.refuse(`Operator or function requires a document path; operator or function: ${name}`)
  }
  return { kind: 'call', name, operands }
}

function operand(reader: Reader): Operand {
  const called = reader.takeCall()
  if (called === 'size') return size(reader)
  if (called !== undefined) {
    reader.refuse(`The function is not allowed to be used this way in an expression; function: ${called}`)
  }
  return pathOrValue(reader)
}

function size(reader: Reader): Operand {
  const operands = reader.list(() => pathOrValue(reader))
  checkCount(reader, 'size', operands)
  const [of] = operands
  return of === undefined ? reader.refuseHere() : { kind: 'size', of }
}

function pathOrValue(reader: Reader): Path | Value {
  return reader.takeValue() ?? reader.path()
}

function checkCount(reader: Reader, name: BooleanFunction | 'size', operands: readonly unknown[]): void {
  if (operands.length === OPERANDS_OF[name]) return
  reader.refuse(
    `Incorrect number of operands for operator or function; operator or function: ${name}, number of operands: ${operands.length}`,
  )
}

function isBooleanFunction(name: string): name is BooleanFunction {
  return name !== 'size' && Object.hasOwn(OPERANDS_OF, name)
}
