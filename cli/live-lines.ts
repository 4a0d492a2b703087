/** A few lines at the bottom of a terminal that are written over while something goes on. */
import { stripVTControlCharacters } from 'node:util'
import type { Terminal } from './terminal.ts'

const UP = (lines: number) => (lines > 0 ? `\u001b[${lines}A` : '')
const CLEAR_BELOW = '\r\u001b[J'

export class LiveLines {
  readonly #terminal: Terminal
  #shown = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Shows these lines in place of the last ones. Lines are cut to the width: a wrapped one could not be found again. */
  show(lines: readonly string[]): void {
    const cut = lines.map((line) => cutToWidth(line, this.#terminal.columns()))
    this.#terminal.stream.write(`${UP(this.#shown)}${CLEAR_BELOW}${cut.map((line) => `${line}\n`).join('')}`)
    this.#shown = cut.length
  }

  /** Takes the lines away. */
  clear(): void {
    if (this.#shown > 0) this.show([])
  }

  /** Leaves the lines where they are, and begins anew below. */
  keep(): void {
    this.#shown = 0
  }
}

/** A line that is too long loses its colours with its end. */
function cutToWidth(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length < columns ? line : `${plain.slice(0, Math.max(0, columns - 2))}…`
}
