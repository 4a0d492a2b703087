/** What became of an attempt to show something on GitHub. */
import { isFailure, Retry } from '../base/errors.ts'
import { GITHUB_READ_BACK_MS } from '../base/limits.ts'

/**
 * It may be there or not: a read failed, a write was not answered, a limit was met, or the read-back doesn't show it.
 * `because` says which, and when to look again; its `code` tells a limit (time) from an error (a try).
 */
export interface Unknown {
  readonly state: 'unknown'
  readonly because: Retry
}

/** A write that was answered with success and isn't seen yet: not shown (LE14). */
export function notShown(what: string): Unknown {
  const because = new Retry('not_shown', `${what} was written and isn't seen on GitHub yet`, GITHUB_READ_BACK_MS)
  return { state: 'unknown', because }
}

/** The outcome of `work`, where failures that may pass are `unknown`; those that won't are thrown. */
export async function orUnknown<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | Unknown> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'retry')) return { state: 'unknown', because: error }
    throw error
  }
}

/** The result of a write; the failure, as a value, if it may have happened without an answer: the caller looks (AW70). */
export async function orLook<Result>(write: Promise<Result>): Promise<Result | Retry> {
  try {
    return await write
  } catch (error) {
    if (isFailure(error, 'retry') && error.outcomeUnknown) return error
    throw error
  }
}

/** GitHub may change line ends and the white space at both ends; nothing else (AW71). */
export function sameText(a: string, b: string): boolean {
  return a.replace(/\r\n/g, '\n').trim() === b.replace(/\r\n/g, '\n').trim()
}
