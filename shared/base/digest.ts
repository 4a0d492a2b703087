/** Names computed from content. No clock, no randomness, no delivery id; an identity is hashed, never cut. */
import { createHash } from 'node:crypto'
import { compareTexts } from './text.ts'

/** SHA-256 of a text (as UTF-8) or of bytes, 64 hex characters. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** A value of JSON. `undefined` members are left out, as in JSON. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain | undefined }

/** JSON with sorted keys: equal values have equal text. */
export function canonical(value: Plain): string {
  if (Array.isArray(value)) return `[${value.map((item: Plain) => canonical(item)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value as { [key: string]: Plain | undefined })
      .filter((member): member is [string, Plain] => member[1] !== undefined)
      .sort(([a], [b]) => compareTexts(a, b))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value)
}

/** Digest of a plain value: equal content, equal digest. */
export function digestOf(value: Plain): string {
  return sha256(canonical(value))
}
