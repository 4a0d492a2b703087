/** The meaning of each exit code, in one table for `muster --help` and docs/command-line.md. */
import type { Verdict } from '../shared/verdict/conclusion.ts'

/** 64, 69 and 70 come from sysexits.h; 130 and 143 are a shell's codes for SIGINT and SIGTERM. */
export const EXIT_CODES = {
  pass: { code: 0, meaning: 'pass: reviewed, without findings; for the other commands: done' },
  findings: { code: 1, meaning: 'concerns or changes requested: reviewed, with findings' },
  incomplete: { code: 2, meaning: 'incomplete: a part of the change was not read; the review says which part' },
  usage: {
    code: 64,
    meaning: 'usage: a named option, ref, repository or file is wrong, or the API refuses the request',
  },
  unavailable: { code: 69, meaning: 'unavailable: the port or the state is in use, or something needed is missing' },
  internal: { code: 70, meaning: 'internal: a fault of Muster; <state>/last-error.txt has the details' },
  interrupted: { code: 130, meaning: 'interrupted by Ctrl-C; the next call continues the review' },
  terminated: { code: 143, meaning: 'ended by SIGTERM; the next call continues the review' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>

export type ExitName = keyof typeof EXIT_CODES

const EXITS_OF_VERDICTS: Readonly<Record<Verdict, ExitName>> = {
  pass: 'pass',
  concerns: 'findings',
  changes_requested: 'findings',
  incomplete: 'incomplete',
}

/** The exit code for the verdict of a review. */
export function exitCodeOf(verdict: Verdict): number {
  return EXIT_CODES[EXITS_OF_VERDICTS[verdict]].code
}

/** The table as text, a line for each code. */
export function exitCodeTable(): string {
  return Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
    .join('\n')
}
