/** The outcomes of an attempt to post something on GitHub, beside success. */
import { isFailure, Retry } from '../base/errors.ts'
import { GITHUB_READ_BACK_MS } from '../base/limits.ts'

/**
 * GitHub may have the write or not: a read failed, a write was not answered, a limit was met, or the read-back lacks
 * the write. `because` names the cause and the next attempt's time; its `code` tells a limit (time) from an error.
 */
export interface Unknown {
  readonly state: 'unknown'
  readonly because: Retry
}

/** Nothing was written, because the check before the write said stop. */
export interface Stopped {
  readonly state: 'stopped'
}

/** The failure of a write that GitHub answered with success and doesn't list yet (LE14). */
export function notVisible(what: string): Retry {
  return new Retry('not_shown', `GitHub doesn't show ${what} yet`, GITHUB_READ_BACK_MS)
}

/** The outcome of `work`, with `unknown` for failures that may pass; all others are thrown. */
export async function orUnknown<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | Unknown> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'retry')) return { state: 'unknown', because: error }
    throw error
  }
}

/** The result of a write; the failure, as a value, of a write that may have happened without an answer (AW70). */
export async function orUnanswered<Result>(write: Promise<Result>): Promise<Result | Retry> {
  try {
    return await write
  } catch (error) {
    if (isFailure(error, 'retry') && error.outcomeUnknown) return error
    throw error
  }
}
