/** Update expressions: SET, REMOVE, ADD and DELETE, each at most once. */
import type { Action, SetValue, Value } from './syntax.ts'
import { type Reader, remembering } from './tokens.ts'

const SECTIONS = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const

export const parseUpdate = remembering('UpdateExpression', (reader): Action[] => {
  const actions: Action[] = []
  const seen = new Set<string>()
  do {
    const section = SECTIONS.find((each) => reader.takeKeyword(each))
    if (section === undefined) return reader.refuseHere()
    if (seen.has(section)) {
      reader.refuse(`The "${section}" section can only be used once in an update expression;`)
    }
    seen.add(section)
    do actions.push(action(reader, section))
    while (reader.takeSign(','))
  } while (!reader.isAtEnd())
  return actions
})

function action(reader: Reader, section: (typeof SECTIONS)[number]): Action {
  const path = reader.path()
  switch (section) {
    case 'SET':
      reader.expectSign('=')
      return { kind: 'set', path, value: sum(reader) }
    case 'REMOVE':
      return { kind: 'remove', path }
    case 'ADD':
      return { kind: 'add', path, value: value(reader) }
    case 'DELETE':
      return { kind: 'delete', path, value: value(reader) }
  }
}

function sum(reader: Reader): SetValue {
  const left = operand(reader)
  const sign = reader.takeOneOf(['+', '-'])
  if (sign === undefined) return left
  return { kind: sign === '+' ? 'plus' : 'minus', left, right: operand(reader) }
}

function operand(reader: Reader): SetValue {
  const called = reader.takeCall()
  if (called === undefined) return reader.takeValue() ?? reader.path()
  if (called !== 'if_not_exists' && called !== 'list_append') {
    reader.refuse(`Invalid function name; function: ${called}`)
  }
  const [first, second, third] = reader.list(() => operand(reader))
  if (first === undefined || second === undefined || third !== undefined) {
    return reader.refuse(`Incorrect number of operands for operator or function; operator or function: ${called}`)
  }
  if (called === 'list_append') return { kind: 'list_append', first, second }
  if (first.kind !== 'path') {
    return reader.refuse('Operator or function requires a document path; operator or function: if_not_exists')
  }
  return { kind: 'if_not_exists', path: first, otherwise: second }
}

function value(reader: Reader): Value {
  return reader.takeValue() ?? reader.refuseHere()
}
