/** The rules of a Choice state: And, IsPresent, StringEquals. */
import { compilePath, compilePresence } from './paths.ts'

type Fields = Readonly<Record<string, unknown>>
type Test = (data: unknown) => boolean

export interface Rule {
  readonly holds: Test
  readonly next: string
}

export function compileRule(fields: Fields, problems: string[]): Rule {
  const { Next, ...test } = fields
  return { holds: compileTest(test, problems), next: String(Next) }
}

function compileTest(fields: Fields, problems: string[]): Test {
  const { Variable, IsPresent, StringEquals, And, ...others } = fields
  const keys = Object.keys(fields).sort().join()
  if (keys === 'And' && Array.isArray(And)) {
    const tests = And.map((test) => compileTest(test as Fields, problems))
    return (data) => tests.every((holds) => holds(data))
  }
  if (keys === 'IsPresent,Variable' && typeof IsPresent === 'boolean') {
    const isPresent = compilePresence(Variable, problems)
    return (data) => isPresent(data) === IsPresent
  }
  if (keys === 'StringEquals,Variable' && typeof StringEquals === 'string') {
    const read = compilePath(Variable, problems)
    return (data) => read({ data, context: {} }) === StringEquals
  }
  problems.push(
    `The rule ${JSON.stringify(fields)} is not known here (${Object.keys(others).join(', ') || 'its form'}).`,
  )
  return () => false
}
