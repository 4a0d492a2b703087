/** Where tokens, delivery ids and request ids come from. A world that must be the same each time brings its own. */
import { randomBytes } from 'node:crypto'

export interface RandomSource {
  /** So many bytes, as lower-case hexadecimal digits. */
  hex(bytes: number): string
}

export const systemRandomSource: RandomSource = { hex: (bytes) => randomBytes(bytes).toString('hex') }

/** In the form of a UUID, as `X-GitHub-Delivery` has it. */
export function guidFrom(random: RandomSource): string {
  return random.hex(16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
