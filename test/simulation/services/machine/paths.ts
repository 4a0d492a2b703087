/**
 * Reference paths and payload templates of the States Language, compiled into functions. Values never change: reads
 * share a value, merges copy along the path.
 */
import { StatesError } from '../../../../infra/local/stepfunctions/errors.ts'

/** The values of `$` and `$$`. */
export interface Scope {
  readonly data: unknown
  readonly context: Readonly<Record<string, unknown>>
}

export type Read = (scope: Scope) => unknown

/** Puts a result into the input of its state, as ResultPath says. */
export type Merge = (input: unknown, result: unknown) => unknown

/** `$` or `$$` and plain field names: no index, no filter, no quoted name. */
const pathPattern = /^\$\$?(\.[A-Za-z_][\w-]*)*$/

/** The supported parts of the context; `Map` in an ItemSelector only. */
const contextParts = ['Execution', 'StateMachine', 'Task', 'Map']

/** Distinguishes an absent path from a path with the value null. */
const absent = Symbol('absent')

/** Reads a path. An absent value ends the execution, as in AWS. `known` names the available parts of `$$`. */
export function compilePath(text: unknown, problems: string[], known: readonly string[] = []): Read {
  const find = compileFind(text, problems, known)
  return (scope) => {
    const value = find(scope)
    if (value !== absent) return value
    throw new StatesError('States.Runtime', `The JSONPath '${text}' could not be found in the input`)
  }
}

export function compilePresence(text: unknown, problems: string[]): (data: unknown) => boolean {
  const find = compileFind(text, problems, [])
  return (data) => find({ data, context: {} }) !== absent
}

/** A payload template: fields that end in `.$` are paths, all other fields are literal. */
export function compileTemplate(template: unknown, problems: string[], known: readonly string[]): Read {
  if (Array.isArray(template)) {
    const parts = template.map((part) => compileTemplate(part, problems, known))
    return (scope) => parts.map((part) => part(scope))
  }
  if (typeof template !== 'object' || template === null) return () => template
  const fields = Object.entries(template).map(([key, value]): readonly [string, Read] =>
    key.endsWith('.$')
      ? [key.slice(0, -2), compilePath(value, problems, known)]
      : [key, compileTemplate(value, problems, known)],
  )
  return (scope) => {
    const result: Record<string, unknown> = {}
    for (const [key, read] of fields) result[key] = read(scope)
    return result
  }
}

/** ResultPath: absent or `$` replaces the input, null keeps the input, a path sets one field of the input. */
export function compileMerge(path: unknown, problems: string[]): Merge {
  if (path === null) return (input) => input
  if (path === undefined || path === '$') return (_input, result) => result
  if (typeof path !== 'string' || !pathPattern.test(path) || path.startsWith('$$')) {
    problems.push(`ResultPath ${JSON.stringify(path)} is not known here. Use null, "$" or "$.field".`)
    return (input) => input
  }
  const keys = path.split('.').slice(1)
  return (input, result) => withField(input, keys, 0, result)
}

function withField(input: unknown, keys: readonly string[], index: number, value: unknown): unknown {
  const key = keys[index]
  if (key === undefined) return value
  if (!isRecord(input)) {
    throw new StatesError('States.ResultPathMatchFailure', `"$.${keys.join('.')}" cannot be set in the state's input`)
  }
  const inner = Object.hasOwn(input, key) ? input[key] : {}
  return { ...input, [key]: withField(inner, keys, index + 1, value) }
}

function compileFind(text: unknown, problems: string[], known: readonly string[]): Read {
  if (typeof text !== 'string' || !pathPattern.test(text)) {
    problems.push(`${JSON.stringify(text)} is not a path that is known here. Use "$", "$.field" or "$$.field".`)
    return () => absent
  }
  const keys = text.split('.').slice(1)
  const isContext = text.startsWith('$$')
  if (isContext && !known.includes(keys[0] ?? '')) {
    const where = contextParts.includes(keys[0] ?? '') ? 'here' : 'anywhere'
    problems.push(
      `"${text}" is not known ${where}. Use one of ${known.map((part) => `$$.${part}`).join(', ') || 'none'}.`,
    )
  }
  return ({ data, context }) => {
    let value: unknown = isContext ? context : data
    for (const key of keys) {
      if (!isRecord(value) || !Object.hasOwn(value, key)) return absent
      value = value[key]
    }
    return value
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
