/** The history of a world, line by line: printed for a failing seed, and compared between two runs of a seed. */
import { createHash } from 'node:crypto'

export class Trace {
  readonly #lines: string[] = []
  readonly #startsAt: number

  /** False if lines are dropped; then callers can skip expensive lines. */
  readonly isKept: boolean

  /** Prints times relative to `startsAt` (ms UTC). */
  constructor(startsAt: number, isKept = true) {
    this.#startsAt = startsAt
    this.isKept = isKept
  }

  /** `at` in ms UTC. */
  add(at: number, actor: string, what: string): void {
    if (!this.isKept) return
    this.#lines.push(`${(at - this.#startsAt).toFixed(0).padStart(9)} ${actor} ${what}`)
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  /** The digest of all lines. */
  digest(): string {
    return createHash('sha256').update(this.#lines.join('\n')).digest('hex')
  }
}
