/** A terminal for tests: keeps what was written, and can say what a person would see of it. */
import { stripVTControlCharacters } from 'node:util'
import { type Terminal, terminalOf } from '../../cli/terminal.ts'

export interface Screen {
  readonly terminal: Terminal
  /** Everything that was written, as it was written. */
  written(): string
  /** The lines that a person sees, without trailing empty ones. */
  seen(): string[]
}

/** `columns` undefined: no terminal but a pipe. */
export function openScreen(columns: number | undefined, environment: NodeJS.ProcessEnv = {}): Screen {
  let written = ''
  const stream = {
    isTTY: columns !== undefined,
    columns,
    write(text: string) {
      written += text
      return true
    },
  }
  return {
    terminal: terminalOf(stream as unknown as NodeJS.WriteStream, environment),
    written: () => written,
    seen: () => replay(written),
  }
}

export const ESCAPE = '\u001b'
const MOVEMENTS = new RegExp(`(${ESCAPE}\\[\\d+A|${ESCAPE}\\[J|\r|\n)`)
const MOVED_UP = new RegExp(`^${ESCAPE}\\[(\\d+)A$`)

/** Knows the two movements that are used: up by lines, and clear what is below. */
function replay(written: string): string[] {
  let lines: string[] = ['']
  for (const part of written.split(MOVEMENTS)) {
    const up = MOVED_UP.exec(part)?.[1]
    if (up !== undefined) {
      const kept = lines.length - Number(up)
      if (kept < 1) throw new Error(`Moved up ${up} lines of ${lines.length}.`)
      // What stands below the cursor is always cleared next.
      lines = lines.slice(0, kept)
    } else if (part === '\r' || part === `${ESCAPE}[J`) lines[lines.length - 1] = ''
    else if (part === '\n') lines.push('')
    else lines[lines.length - 1] += stripVTControlCharacters(part)
  }
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
