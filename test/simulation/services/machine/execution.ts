/** The visible part of an execution: its input, its record and its end. */
import type { EndStatus, Line } from '../../../../infra/local/stepfunctions/journal.ts'

export interface Execution {
  /** The execution's number in the machine, from 1. */
  readonly sequence: number
  readonly arn: string
  readonly name: string
  /** JSON text, exactly as received. */
  readonly input: string
  /** ms UTC, like `stoppedAt`. */
  readonly startedAt: number
  readonly stoppedAt: number | undefined
  readonly status: 'RUNNING' | EndStatus
  /** JSON text; only of a succeeded execution. */
  readonly output: string | undefined
  readonly error: string | undefined
  readonly cause: string | undefined
  /** The number of entries of each state, by name. */
  readonly entered: ReadonlyMap<string, number>
  /** All entered states, iterations included. */
  readonly transitions: number
  /** Attempts after the first, which AWS bills like transitions. */
  readonly retries: number
  /** The whole record, in order. */
  readonly lines: readonly Line[]
  /** The names of the current states, a Map before the states of its items; empty after the end. */
  current(): string[]
  /** Tokens that still accept an answer. */
  openTokens(): OpenToken[]
}

export interface OpenToken {
  readonly token: string
  readonly state: string
  /** The time of States.Timeout, ms UTC. */
  readonly deadline: number
}
