/** Random numbers that one seed replays: the same draws in the same order give the same world. */

export interface Random {
  /** At least 0, less than 1. */
  next(): number
  /** A whole number of at least 0, less than `below`. */
  below(below: number): number
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number
  /** True with the given probability. */
  chance(probability: number): boolean
  /** A random element; throws if the list is empty. */
  pick<T>(from: readonly T[]): T
  /** In the form of a UUID of version 4. */
  uuid(): string
}

/**
 * sfc32 by Chris Doty-Humphrey (PractRand), seeded by its own first rounds. `stream` separates the generators of one
 * seed.
 */
export function randomOf(seed: number, stream = 0): Random {
  let a = seed >>> 0
  let b = Math.floor(seed / 2 ** 32) >>> 0
  let c = stream >>> 0
  let counter = 1

  function bits(): number {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  // The author's number of rounds until every bit of the seed has reached every bit of the state.
  for (let round = 0; round < 15; round += 1) bits()

  const next = () => bits() / 2 ** 32
  const below = (limit: number) => Math.floor(next() * limit)
  const hex = () => bits().toString(16).padStart(8, '0')
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (probability) => next() < probability,
    pick(from) {
      const picked = from[below(from.length)]
      if (picked === undefined) throw new RangeError('Expected something to pick from, got nothing')
      return picked
    },
    uuid() {
      const [first, second, third, fourth] = [hex(), hex(), hex(), hex()]
      const variant = '89ab'[Number.parseInt(third[0] ?? '0', 16) % 4]
      return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-${variant}${third.slice(1, 4)}-${third.slice(4)}${fourth}`
    },
  }
}
