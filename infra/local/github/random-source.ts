/** The source of tokens, delivery ids and request ids. A deterministic world brings its own source. */
import { randomBytes } from 'node:crypto'

export interface RandomSource {
  /** Random bytes, as lower-case hexadecimal digits. */
  hex(bytes: number): string
}

export const systemRandomSource: RandomSource = { hex: (bytes) => randomBytes(bytes).toString('hex') }

/** A UUID, as in `X-GitHub-Delivery`. */
export function guidFrom(random: RandomSource): string {
  return random.hex(16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
