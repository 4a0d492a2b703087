/** Where tokens, delivery ids and request ids come from. A world that must be the same each time brings its own. */
import { randomBytes } from 'node:crypto'

export interface Entropy {
  /** So many bytes, as lower-case hexadecimal digits. */
  hex(bytes: number): string
}

export const systemEntropy: Entropy = { hex: (bytes) => randomBytes(bytes).toString('hex') }

/** In the form of a UUID, as `X-GitHub-Delivery` has it. */
export function guidFrom(entropy: Entropy): string {
  return entropy.hex(16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
