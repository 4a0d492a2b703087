/**
 * The journal of an execution, one JSON line for each fact, appended to one small file for each execution. The line of
 * a fact is written before anything depends on the fact, so that the death of the process at any moment leaves a true
 * account.
 */
import { appendFileSync, readFileSync, truncateSync } from 'node:fs'

/** How an attempt at a task ended. `output` is JSON text. */
export type Outcome = { readonly output: string } | { readonly error: string; readonly cause: string }

export type EndStatus = 'SUCCEEDED' | 'FAILED' | 'ABORTED'

export interface End {
  readonly status: EndStatus
  /** JSON text; of a succeeded execution only. */
  readonly output?: string
  readonly error?: string
  readonly cause?: string
}

export interface StartedFact {
  readonly kind: 'started'
  readonly arn: string
  /** The exact JSON text of the start: a repeated start must bring the same text. */
  readonly input: string
  /** SHA-256 of the definition: an execution keeps the definition of its start. */
  readonly definition: string
  /** Stands for `$$.Task.Token` in payloads, unguessable, until the task's own token is known. */
  readonly placeholder: string
}

/** `task` is the state's name, the digest of its payload, and the number of earlier occurrences of that pair. */
export type Fact =
  | StartedFact
  /** `data`: JSON text of a state's input or output; null for a text too long for a person. */
  | { readonly kind: 'entered' | 'exited'; readonly state: string; readonly type: string; readonly data: string | null }
  | { readonly kind: 'iteration'; readonly change: string; readonly state: string; readonly index: number }
  /** An attempt begins. `token` and `deadline` (ms since the epoch) make an answer possible even before the replay. */
  | {
      readonly kind: 'attempt'
      readonly task: string
      readonly functionName: string
      readonly deadline: number
      readonly token?: string
    }
  /** The function of a waiting task returned: no replay calls the function again. */
  | { readonly kind: 'submitted'; readonly task: string }
  | ({ readonly kind: 'outcome'; readonly task: string } & Outcome)
  /** The task is to be tried again, not before `until` (ms since the epoch). */
  | { readonly kind: 'retry'; readonly task: string; readonly until: number }
  /** The execution entered a Wait state, with `wait` as its `task`. The state ends at `until` (ms since the epoch). */
  | { readonly kind: 'wait'; readonly wait: string; readonly until: number }
  | ({ readonly kind: 'ended' } & End)

/** `at`: ms since the epoch. */
export type Line = Fact & { readonly at: number }

/** Appends one line. By the return the line survives the end of this process (not the end of the machine: no fsync). */
export function appendLine(path: string, line: object): void {
  appendFileSync(path, `${JSON.stringify(line)}\n`)
}

/**
 * All complete lines; an absent file has none. Nothing has relied on a last line that a dying process left incomplete:
 * `repair` cuts the line off, so that the next append begins a line of its own.
 */
export function readLines<T>(path: string, options: { repair: boolean }): T[] {
  const bytes = readIfExists(path)
  if (!bytes) return []
  const complete = bytes.lastIndexOf('\n') + 1
  if (options.repair && complete < bytes.length) truncateSync(path, complete)
  return bytes
    .toString('utf8', 0, complete)
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as T)
}

function readIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
