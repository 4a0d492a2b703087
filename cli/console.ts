/** The two streams of a command: the result on stdout, everything else on stderr. */
import { type Terminal, terminalOf } from './terminal.ts'

export interface Console {
  /** Prints the result, written whole before the process ends, also into a pipe. */
  print(text: string): Promise<void>
  readonly out: Terminal
  readonly err: Terminal
}

export function openConsole(): Console {
  const out = terminalOf(process.stdout, process.env)
  // A satisfied reader (`| head`) closes the pipe: no failure, and the rest of the output has no reader.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  return {
    out,
    err: terminalOf(process.stderr, process.env),
    print(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      process.stdout.write(text.endsWith('\n') ? text : `${text}\n`, () => resolve())
      return promise
    },
  }
}
