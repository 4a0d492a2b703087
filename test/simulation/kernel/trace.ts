/** What happened, line by line: what a failing seed prints, and what two runs of a seed are compared by. */
import { createHash } from 'node:crypto'

export class Trace {
  readonly #lines: string[] = []
  readonly #startsAt: number

  /** Times are printed from `startsAt` (ms UTC) on. */
  constructor(startsAt: number) {
    this.#startsAt = startsAt
  }

  /** `at` in ms UTC. */
  add(at: number, actor: string, what: string): void {
    this.#lines.push(`${(at - this.#startsAt).toFixed(0).padStart(9)} ${actor} ${what}`)
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  /** Of all lines. */
  digest(): string {
    return createHash('sha256').update(this.#lines.join('\n')).digest('hex')
  }
}
