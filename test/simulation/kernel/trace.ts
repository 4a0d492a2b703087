/** What happened, line by line: what a failing seed prints, and what two runs of a seed are compared by. */
import { createHash } from 'node:crypto'

export class Trace {
  readonly #lines: string[] = []
  readonly #startsAt: number

  /** False: lines are dropped, and who would have to make an effort for one need not. */
  readonly isKept: boolean

  /** Times are printed from `startsAt` (ms UTC) on. */
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

  /** Of all lines. */
  digest(): string {
    return createHash('sha256').update(this.#lines.join('\n')).digest('hex')
  }
}
