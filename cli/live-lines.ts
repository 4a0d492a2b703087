/** A few lines at the bottom of a terminal, written over during a command. */
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

  /**
   * Shows these lines in place of the last ones. Long lines are cut to the width: a wrapped line could not be written
   * over.
   */
  show(lines: readonly string[]): void {
    const cut = lines.map((line) => cutToWidth(line, this.#terminal.columns()))
    this.#terminal.stream.write(`${UP(this.#shown)}${CLEAR_BELOW}${cut.map((line) => `${line}\n`).join('')}`)
    this.#shown = cut.length
  }

  /** Removes the lines. */
  clear(): void {
    if (this.#shown > 0) this.show([])
  }

  /** Leaves the lines, and begins anew below. */
  keep(): void {
    this.#shown = 0
  }
}

/** A cut line loses its colours. */
function cutToWidth(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length < columns ? line : `${plain.slice(0, Math.max(0, columns - 2))}…`
}
