/** The consequences of a failure: the retriers and catchers of https://states-language.net/spec.html#errors. */
import { isTerminal, StatesError } from '../../../../infra/local/stepfunctions/errors.ts'
import type { Merge } from './paths.ts'

export interface Retrier {
  readonly errors: readonly string[]
  readonly intervalMs: number
  readonly backoffRate: number
  readonly attemptsMax: number
  readonly delayMsMax: number
  readonly isJittered: boolean
}

export interface Catcher {
  readonly errors: readonly string[]
  readonly merge: Merge
  readonly next: string
}

export interface Failure {
  /** The name that Retry and Catch match. */
  readonly error: string
  readonly cause: string
}

/** Counts the retries of one visit to a state. The first retrier that names an error decides alone. */
export class Retries {
  readonly #retriers: readonly Retrier[]
  readonly #used: number[]

  constructor(retriers: readonly Retrier[]) {
    this.#retriers = retriers
    this.#used = retriers.map(() => 0)
  }

  /** Ms until the next attempt; undefined if the error is final. */
  delayMs(error: string, random: () => number): number | undefined {
    const index = this.#retriers.findIndex(({ errors }) => matches(errors, error))
    const retrier = this.#retriers[index]
    const used = this.#used[index] ?? 0
    if (!retrier || used >= retrier.attemptsMax) return undefined
    this.#used[index] = used + 1
    const whole = Math.min(retrier.intervalMs * retrier.backoffRate ** used, retrier.delayMsMax)
    return Math.round(retrier.isJittered ? whole * random() : whole)
  }
}

/** Whether ErrorEquals names the error. */
export function matches(errors: readonly string[], error: string): boolean {
  if (isTerminal(error)) return false
  return errors.some((name) => {
    if (name === 'States.ALL') return true
    return name === 'States.TaskFailed' ? error !== 'States.Timeout' : name === error
  })
}

/** A thrown `StatesError` as a failure. Any other error is a mistake of the simulation and is thrown on. */
export function failureOf(error: unknown): Failure {
  if (error instanceof StatesError) return { error: error.name, cause: error.message }
  throw error
}
