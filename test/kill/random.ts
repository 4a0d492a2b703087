/** Random-looking numbers from a seed alone, so that a failure can be repeated. */
import { createHash } from 'node:crypto'

export interface Random {
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number
  /** A member of the list. Throws for an empty list. */
  pick<T>(from: readonly T[]): T
  /** `length` characters of this alphabet. */
  text(alphabet: string, length: number): string
}

/** Bytes of a digest for one number: exact in a double. */
const NUMBER_BYTES = 6

/** The sequence of this seed. */
export function randomOf(seed: number): Random {
  let count = 0
  const fraction = () => {
    count += 1
    const digest = createHash('sha256').update(`${seed} ${count}`).digest()
    return digest.readUIntBE(0, NUMBER_BYTES) / 2 ** (8 * NUMBER_BYTES)
  }
  const between = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1))
  return {
    between,
    pick(from) {
      if (from.length === 0) throw new Error('Expected something to pick from.')
      return from[between(0, from.length - 1)] as (typeof from)[number]
    },
    text: (alphabet, length) => Array.from({ length }, () => alphabet[between(0, alphabet.length - 1)]).join(''),
  }
}
