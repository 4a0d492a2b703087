/** A terminal for tests: keeps the output, and shows a person's view of it. */
import { stripVTControlCharacters } from 'node:util'
import { type Terminal, terminalOf } from '../../cli/terminal.ts'

export interface Screen {
  readonly terminal: Terminal
  /** The whole output, unchanged. */
  written(): string
  /** The visible lines, without trailing empty lines. */
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

/** Knows the two movements in use: up by lines, and clear below. */
function replay(written: string): string[] {
  let lines: string[] = ['']
  for (const part of written.split(MOVEMENTS)) {
    const up = MOVED_UP.exec(part)?.[1]
    if (up !== undefined) {
      const kept = lines.length - Number(up)
      if (kept < 1) throw new Error(`Moved up ${up} lines of ${lines.length}.`)
      // The command always clears the lines below the cursor next.
      lines = lines.slice(0, kept)
    } else if (part === '\r' || part === `${ESCAPE}[J`) lines[lines.length - 1] = ''
    else if (part === '\n') lines.push('')
    else lines[lines.length - 1] += stripVTControlCharacters(part)
  }
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
}
