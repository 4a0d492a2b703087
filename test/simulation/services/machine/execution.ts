/** An execution as it can be looked at: what it was started with, what it has done, how it ended. */
import type { EndStatus, Line } from '../../../../infra/local/stepfunctions/journal.ts'

export interface Execution {
  /** Counts all executions of the machine, from 1. */
  readonly sequence: number
  readonly arn: string
  readonly name: string
  /** JSON text exactly as it was given. */
  readonly input: string
  /** ms UTC, like `stoppedAt`. */
  readonly startedAt: number
  readonly stoppedAt: number | undefined
  readonly status: 'RUNNING' | EndStatus
  /** JSON text; of a succeeded execution only. */
  readonly output: string | undefined
  readonly error: string | undefined
  readonly cause: string | undefined
  /** How often each state was entered, by its name. */
  readonly entered: ReadonlyMap<string, number>
  /** States entered, all iterations included. */
  readonly transitions: number
  /** Attempts after the first, which AWS bills like transitions. */
  readonly retries: number
  /** Everything that happened, in order. */
  readonly lines: readonly Line[]
  /** The names of the states that it is in now, a Map before those of its items; none once it has ended. */
  current(): string[]
  /** Tokens that can still be answered. */
  openTokens(): OpenToken[]
}

export interface OpenToken {
  readonly token: string
  readonly state: string
  /** ms UTC: States.Timeout comes then. */
  readonly deadline: number
}
