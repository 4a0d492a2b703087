/** All task tokens of a machine, waiting or earlier. */
import { Refusal } from '../../../../infra/local/stepfunctions/errors.ts'
import type { Outcome } from '../../../../infra/local/stepfunctions/journal.ts'
import type { OpenToken } from './execution.ts'

/** A task that waits for its token's answer. */
export interface Waiting extends OpenToken {
  settle(outcome: Outcome): void
}

export class Tokens {
  readonly #open = new Map<string, Waiting>()
  #issued = 0

  /** A new, unique token in the API's form. Tokens are predictable, so that a seed repeats them. */
  issue(): string {
    this.#issued += 1
    return tokenOf(this.#issued)
  }

  open(waiting: Waiting): void {
    this.#open.set(waiting.token, waiting)
  }

  close(token: string): void {
    this.#open.delete(token)
  }

  /**
   * The task that waits with the token at `now` (ms UTC). Throws TaskTimedOut, or TaskDoesNotExist for an unknown
   * token.
   */
  waiting(token: string, now: number): Waiting {
    const waiting = this.#open.get(token)
    if (waiting && waiting.deadline > now) return waiting
    if (isIssued(token, this.#issued)) {
      throw new Refusal(
        'TaskTimedOut',
        'The task is not waiting any more. Read its execution to see what became of it.',
      )
    }
    throw new Refusal('TaskDoesNotExist', 'No execution here gave out this token. Answer where it came from.')
  }
}

/** The API's form has two halves; only the second half differs between tokens. */
const prefix = '0'.repeat(32)

function tokenOf(number: number): string {
  return `${prefix}.${number.toString(16).padStart(32, '0')}`
}

function isIssued(token: string, issued: number): boolean {
  const number = Number.parseInt(token.slice(prefix.length + 1), 16)
  return number >= 1 && number <= issued && token === tokenOf(number)
}
