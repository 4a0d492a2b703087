/** Attribute values in wire form: checked, compared, measured. Stored items never change. */
import { validationError } from '../../../../infra/local/dynamodb/errors.ts'
import { compareDecimals, decimalBytes, normalDecimal } from './decimal.ts'

/** One tagged value: exactly one member is present. */
export interface AttributeValue {
  readonly S?: string
  readonly N?: string
  /** base64 */
  readonly B?: string
  readonly BOOL?: boolean
  readonly NULL?: boolean
  readonly M?: Attributes
  readonly L?: readonly AttributeValue[]
  readonly SS?: readonly string[]
  readonly NS?: readonly string[]
  readonly BS?: readonly string[]
}

export type Attributes = Readonly<Record<string, AttributeValue>>
export type ValueType = keyof AttributeValue

const TYPES: ReadonlySet<string> = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'])

export function typeOf(value: AttributeValue): ValueType {
  for (const type in value) return type as ValueType
  throw validationError('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes')
}

/** The value with its numbers in normal form. Throws ValidationException for a value that DynamoDB refuses. */
export function checkedValue(value: unknown): AttributeValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw validationError('Supplied AttributeValue is not a structure')
  }
  const [type, second] = Object.keys(value)
  if (type === undefined || !TYPES.has(type)) {
    throw validationError('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes')
  }
  if (second !== undefined) {
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  }
  const checked = checkedContent(type as ValueType, (value as Record<string, unknown>)[type])
  if (checked === undefined) throw validationError(`Supplied AttributeValue of type ${type} has no value of that type`)
  return checked
}

export function checkedAttributes(attributes: unknown): Attributes {
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) {
    throw validationError('A map of attributes was expected')
  }
  const checked: Record<string, AttributeValue> = {}
  for (const [name, value] of Object.entries(attributes)) checked[name] = checkedValue(value)
  return checked
}

function checkedContent(type: ValueType, content: unknown): AttributeValue | undefined {
  switch (type) {
    case 'S':
      return typeof content === 'string' ? { S: content } : undefined
    case 'N':
      return typeof content === 'string' ? { N: normalDecimal(content) } : undefined
    case 'B':
      return typeof content === 'string' ? { B: content } : undefined
    case 'BOOL':
      return typeof content === 'boolean' ? { BOOL: content } : undefined
    case 'NULL':
      return content === true ? { NULL: true } : undefined
    case 'M':
      return { M: checkedAttributes(content) }
    case 'L':
      return Array.isArray(content) ? { L: content.map(checkedValue) } : undefined
    default:
      return checkedSet(type, content)
  }
}

function checkedSet(type: 'SS' | 'NS' | 'BS', content: unknown): AttributeValue | undefined {
  if (!Array.isArray(content) || content.length === 0 || !content.every((each) => typeof each === 'string')) {
    return undefined
  }
  const members: string[] = type === 'NS' ? content.map(normalDecimal) : content
  if (new Set(members).size < members.length) {
    throw validationError('One or more parameter values were invalid: Input collection contains duplicates')
  }
  return { [type]: members }
}

/** Deep; ignores the order of sets. */
export function equal(a: AttributeValue, b: AttributeValue): boolean {
  const type = typeOf(a)
  if (type !== typeOf(b)) return false
  switch (type) {
    case 'M':
      return equalMaps(a.M ?? {}, b.M ?? {})
    case 'L':
      return a.L?.length === b.L?.length && (a.L ?? []).every((each, at) => equal(each, b.L?.[at] ?? {}))
    case 'SS':
    case 'NS':
    case 'BS':
      return a[type]?.length === b[type]?.length && (a[type] ?? []).every((each) => b[type]?.includes(each))
    default:
      return a[type] === b[type]
  }
}

function equalMaps(a: Attributes, b: Attributes): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => {
    const [left, right] = [a[name], b[name]]
    return left !== undefined && right !== undefined && equal(left, right)
  })
}

/**
 * Compares two values of one type among S, N and B in DynamoDB's order, like `a - b`; undefined for all other values.
 */
export function compareValues(a: AttributeValue, b: AttributeValue): number | undefined {
  if (a.N !== undefined && b.N !== undefined) return compareDecimals(a.N, b.N)
  if (a.S !== undefined && b.S !== undefined) return compareTexts(a.S, b.S)
  if (a.B !== undefined && b.B !== undefined) return Buffer.from(a.B, 'base64').compare(Buffer.from(b.B, 'base64'))
  return undefined
}

/** Beyond U+FFFF the order of UTF-16 units differs from the order of bytes. */
const SURROGATE = /[\uD800-\uDFFF]/

/** In the order of their UTF-8 bytes. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.from(a).compare(Buffer.from(b))
  return a < b ? -1 : 1
}

/** Bytes that count towards the 400 KB of an item: names and values in UTF-8, three more for each map or list. */
export function attributesBytes(attributes: Attributes): number {
  let bytes = 0
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== undefined) bytes += Buffer.byteLength(name) + valueBytes(value)
  }
  return bytes
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return decimalBytes(value.N)
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64')
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + attributesBytes(value.M)
  if (value.L !== undefined) return value.L.reduce((sum, each) => sum + 1 + valueBytes(each), 3)
  if (value.SS !== undefined) return value.SS.reduce((sum, each) => sum + Buffer.byteLength(each), 0)
  if (value.NS !== undefined) return value.NS.reduce((sum, each) => sum + decimalBytes(each), 0)
  if (value.BS !== undefined) return value.BS.reduce((sum, each) => sum + Buffer.byteLength(each, 'base64'), 0)
  return 1
}
