/** Ctrl-C and SIGTERM: the first asks for a clean end, the second ends at once. */
import { EXIT_CODES } from './exit-codes.ts'

export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** The exit code of the first signal; undefined before any signal. */
  exitCode(): number | undefined
  /** Resolves at the first signal. */
  readonly happened: Promise<void>
}

/** Listens from now on, for the rest of the process. */
export function listenForInterruption(): Interruption {
  const abort = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  let exitCode: number | undefined
  const codes = { SIGINT: EXIT_CODES.interrupted.code, SIGTERM: EXIT_CODES.terminated.code } as const
  for (const [name, code] of Object.entries(codes)) {
    process.on(name, () => {
      // Accepted work is on disk already: an end at once loses no more than a kill.
      if (exitCode !== undefined) process.exit(code)
      exitCode = code
      abort.abort()
      resolve()
    })
  }
  return { signal: abort.signal, exitCode: () => exitCode, happened: promise }
}
