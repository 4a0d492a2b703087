/** The keys of a table, and an item's rows in the table's indexes. */
import { ServiceError, validationError } from '../../../../infra/local/dynamodb/errors.ts'
import type { Target } from './expressions/check.ts'
import { type Attributes, type AttributeValue, compareValues, typeOf } from './values.ts'

export type KeyType = 'S' | 'N' | 'B'

export interface KeyAttribute {
  readonly name: string
  readonly type: KeyType
}

export interface KeySchema {
  readonly hash: KeyAttribute
  readonly range: KeyAttribute | undefined
}

export interface IndexSchema extends KeySchema {
  readonly name: string
  readonly projection: 'ALL' | 'KEYS_ONLY'
}

export interface TableSchema extends KeySchema {
  readonly name: string
  readonly indexes: readonly IndexSchema[]
}

/** Limits of a key's parts: "Quotas" in the developer guide. */
const HASH_BYTES_MAX = 2048
const RANGE_BYTES_MAX = 1024

export function keyAttributes({ hash, range }: KeySchema): readonly KeyAttribute[] {
  return range === undefined ? [hash] : [hash, range]
}

/** A key value as text, distinct among values of the same type. */
export function keyText(value: AttributeValue | undefined): string {
  return value?.S ?? value?.N ?? value?.B ?? ''
}

/** An item's whole key as one text. */
export function primaryKey({ hash, range }: KeySchema, item: Attributes): string {
  const first = keyText(item[hash.name])
  return range === undefined ? first : `${first.length}#${first}${keyText(item[range.name])}`
}

/** Checks a request's `Key`, which must have exactly the attributes of the key. */
export function checkKey(schema: TableSchema, key: Attributes): void {
  const parts = keyAttributes(schema)
  if (Object.keys(key).length !== parts.length) refuseKey()
  for (const part of parts) {
    const value = key[part.name]
    if (value?.[part.type] === undefined) refuseKey()
    checkKeyPart(part, value, part === schema.hash)
  }
}

/** Checks the key attributes of an item. */
export function checkItemKey(schema: TableSchema, item: Attributes): void {
  for (const part of keyAttributes(schema)) {
    const value = item[part.name]
    if (value === undefined) refuseValue(`Missing the key ${part.name} in the item`)
    if (value[part.type] === undefined) {
      refuseValue(`Type mismatch for key ${part.name} expected: ${part.type} actual: ${typeOf(value)}`)
    }
    checkKeyPart(part, value, part === schema.hash)
  }
}

/**
 * An item without an index's attributes is absent from the index; an item with attributes of a wrong type is refused.
 */
export function checkIndexKeys(schema: TableSchema, item: Attributes): void {
  for (const index of schema.indexes) {
    for (const part of keyAttributes(index)) {
      const value = item[part.name]
      if (value === undefined) continue
      if (value[part.type] === undefined) {
        refuseValue(
          `Type mismatch for Index Key ${part.name} Expected: ${part.type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
        )
      }
      if (keyText(value) === '') {
        refuseValue(`A key attribute cannot contain an empty value. IndexName: ${index.name}, IndexKey: ${part.name}`)
      }
    }
  }
}

/** An update must not touch the key, nor write inside an index's key, nor give an index's key another type. */
export function checkTargets(schema: TableSchema, targets: readonly Target[]): void {
  for (const { name } of keyAttributes(schema)) {
    if (targets.some(({ steps }) => steps[0] === name)) {
      refuseValue(`Cannot update attribute ${name}. This attribute is part of the key`)
    }
  }
  for (const { name, type } of schema.indexes.flatMap(keyAttributes)) {
    for (const target of targets) {
      if (target.steps[0] !== name) continue
      if (target.steps.length > 1) {
        throw validationError(
          `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: ${name}`,
        )
      }
      if (target.type !== undefined && target.type !== type) {
        refuseValue(`Type mismatch for Index Key ${name} Expected: ${type} Actual: ${target.type}`)
      }
    }
  }
}

/** An item's row in an index; undefined if the item has none. */
export function indexRow(table: TableSchema, index: IndexSchema, item: Attributes): Attributes | undefined {
  const attributes: Record<string, AttributeValue> = {}
  for (const { name } of keyAttributes(index)) {
    const value = item[name]
    if (value === undefined) return undefined
    attributes[name] = value
  }
  if (index.projection === 'ALL') return item
  for (const { name } of keyAttributes(table)) {
    const value = item[name]
    if (value !== undefined) attributes[name] = value
  }
  return attributes
}

/** Compares by range key, like `a - b`. */
export function compareRanges({ range }: KeySchema, a: Attributes, b: Attributes): number {
  if (range === undefined) return 0
  const [left, right] = [a[range.name], b[range.name]]
  return left !== undefined && right !== undefined ? (compareValues(left, right) ?? 0) : 0
}

/** Reads a CreateTable request. */
export function schemaOf(request: Readonly<Record<string, unknown>>): TableSchema {
  const definitions = objects(request.AttributeDefinitions)
  const typeByName = new Map(definitions.map((each) => [String(each.AttributeName), String(each.AttributeType)]))
  const attribute = (keySchema: unknown, kind: string): KeyAttribute | undefined => {
    const found = objects(keySchema).find(({ KeyType }) => KeyType === kind)
    if (found === undefined) return undefined
    const type = typeByName.get(String(found.AttributeName))
    if (type !== 'S' && type !== 'N' && type !== 'B') {
      throw validationError(`The key attribute ${found.AttributeName} has no definition of type S, N or B`)
    }
    return { name: String(found.AttributeName), type }
  }
  const keys = (keySchema: unknown): KeySchema => {
    const hash = attribute(keySchema, 'HASH')
    if (hash === undefined) throw validationError('No Hash Key specified in schema')
    return { hash, range: attribute(keySchema, 'RANGE') }
  }
  if (request.LocalSecondaryIndexes !== undefined) throw validationError('Local indexes are not simulated')
  const indexes = objects(request.GlobalSecondaryIndexes).map((index): IndexSchema => {
    const projection = (index.Projection as { ProjectionType?: string } | undefined)?.ProjectionType
    if (projection !== 'ALL' && projection !== 'KEYS_ONLY') {
      throw validationError(`An index that projects ${projection} is not simulated`)
    }
    return { ...keys(index.KeySchema), name: String(index.IndexName), projection }
  })
  if (typeof request.TableName !== 'string') throw validationError('TableName is required')
  return { ...keys(request.KeySchema), name: request.TableName, indexes }
}

function objects(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list : []
}

function checkKeyPart(part: KeyAttribute, value: AttributeValue, isHash: boolean): void {
  const text = keyText(value)
  if (part.type === 'N') return
  if (text === '') {
    refuseValue(`The AttributeValue for a key attribute cannot contain an empty value. Key: ${part.name}`)
  }
  const most = isHash ? HASH_BYTES_MAX : RANGE_BYTES_MAX
  if (text.length * 3 > most && Buffer.byteLength(text) > most) {
    refuseValue(`Size of ${isHash ? 'hashkey' : 'range key'} has exceeded the maximum size limit of ${most} bytes`)
  }
}

function refuseKey(): never {
  throw validationError('The provided key element does not match the schema')
}

function refuseValue(reason: string): never {
  throw new ServiceError('ValidationException', `One or more parameter values were invalid: ${reason}`)
}
