/** Items as plain objects, for tests and invariants: made once for each stored item, and frozen. */
import { type Attributes, type AttributeValue, attributesBytes } from './values.ts'

/** Numbers are JavaScript's, sets are arrays, binary values stay base64. */
export type PlainItem = Readonly<Record<string, unknown>>

const plainOf = new WeakMap<Attributes, PlainItem>()
const bytesOf = new WeakMap<Attributes, number>()

/** The plain form of a stored item. */
export function plainItem(item: Attributes): PlainItem {
  const known = plainOf.get(item)
  if (known !== undefined) return known
  const plain = plainMap(item)
  plainOf.set(item, plain)
  return plain
}

/** The size of a stored item; measured once, since items never change. */
export function itemBytes(item: Attributes): number {
  const known = bytesOf.get(item)
  if (known !== undefined) return known
  const bytes = attributesBytes(item)
  bytesOf.set(item, bytes)
  return bytes
}

function plainMap(attributes: Attributes): PlainItem {
  const plain: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) plain[name] = plainValue(value)
  return Object.freeze(plain)
}

function plainValue(value: AttributeValue): unknown {
  if (value.N !== undefined) return Number(value.N)
  if (value.M !== undefined) return plainMap(value.M)
  if (value.L !== undefined) return Object.freeze(value.L.map(plainValue))
  if (value.NS !== undefined) return Object.freeze(value.NS.map(Number))
  if (value.NULL !== undefined) return null
  return value.S ?? value.BOOL ?? value.B ?? value.SS ?? value.BS
}
