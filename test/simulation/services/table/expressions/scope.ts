/** The aliases of one request's expressions, and the way of a path through an item. */
import { validationError } from '../../../../../infra/local/dynamodb/errors.ts'
import { type Attributes, type AttributeValue, checkedValue } from '../values.ts'
import type { Parsed, Path, Value } from './syntax.ts'

export interface Scope {
  readonly names: Readonly<Record<string, string>>
  readonly values: Attributes
}

const NAME_ALIAS = /^#\w+$/
const VALUE_ALIAS = /^:\w+$/

/** The scope of a request with these expressions; every alias must be defined, and every definition used. */
export function scopeOf(
  request: Readonly<Record<string, unknown>>,
  expressions: readonly (Parsed<unknown> | undefined)[],
): Scope {
  const names = definitions(request, 'ExpressionAttributeNames', NAME_ALIAS) as Record<string, string>
  const given = definitions(request, 'ExpressionAttributeValues', VALUE_ALIAS)
  const values: Record<string, AttributeValue> = {}
  for (const alias in given) values[alias] = checkedValue(given[alias])
  for (const expression of expressions) {
    for (const alias of expression?.aliases ?? []) {
      if (Object.hasOwn(alias.startsWith('#') ? names : values, alias)) continue
      const what = alias.startsWith('#')
        ? 'name used in the document path is not defined; attribute name'
        : 'value used in expression is not defined; attribute value'
      throw validationError(`Invalid expression: An expression attribute ${what}: ${alias}`)
    }
  }
  refuseUnused('Names', names, expressions)
  refuseUnused('Values', values, expressions)
  return { names, values }
}

/** The names and positions of a path. */
export function stepsOf(path: Path, { names }: Scope): readonly (string | number)[] {
  return path.pieces.map((piece) => (typeof piece === 'string' ? nameOf(piece, names) : piece))
}

/** The item's value at a path. */
export function valueAt(item: Attributes, path: Path, scope: Scope): AttributeValue | undefined {
  let value: AttributeValue | undefined
  for (const [at, piece] of path.pieces.entries()) {
    if (at === 0) value = item[nameOf(String(piece), scope.names)]
    else value = typeof piece === 'number' ? value?.L?.[piece] : value?.M?.[nameOf(piece, scope.names)]
    if (value === undefined) return undefined
  }
  return value
}

export function aliased({ alias }: Value, { values }: Scope): AttributeValue {
  const value = values[alias]
  if (value === undefined) throw new Error(`the scope has no ${alias}, though it was checked`)
  return value
}

function nameOf(piece: string, names: Scope['names']): string {
  return piece.startsWith('#') ? (names[piece] ?? piece) : piece
}

function definitions(
  request: Readonly<Record<string, unknown>>,
  member: string,
  form: RegExp,
): Record<string, unknown> {
  const given = request[member]
  if (given === undefined) return {}
  const all = given as Record<string, unknown>
  const aliases = Object.keys(all)
  if (aliases.length === 0) throw validationError(`${member} must not be empty`)
  const malformed = aliases.find((alias) => !form.test(alias))
  if (malformed !== undefined) {
    throw validationError(`${member} contains invalid key: Syntax error; key: "${malformed}"`)
  }
  return all
}

function refuseUnused(kind: string, defined: object, expressions: readonly (Parsed<unknown> | undefined)[]): void {
  const unused = Object.keys(defined).filter((alias) => !expressions.some((each) => each?.aliases.has(alias)))
  if (unused.length === 0) return
  throw validationError(
    `Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${unused.join(', ')}}`,
  )
}
