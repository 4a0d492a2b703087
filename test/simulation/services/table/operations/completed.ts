/** The tokens of completed transactions: a repeated transaction gets its answer and writes nothing. */
import { ServiceError } from '../../../../../infra/local/dynamodb/errors.ts'
import type { WorldClock } from '../../service.ts'

const TOKEN_LIFE_MS = 10 * 60_000 // TransactWriteItems API reference: ten minutes after the request finished

export class CompletedTransactions {
  readonly #now: WorldClock
  readonly #byToken = new Map<string, { readonly content: unknown; readonly at: number }>()

  constructor(now: WorldClock) {
    this.#now = now
  }

  /**
   * Whether the transaction is completed; throws `IdempotentParameterMismatchException` if the token belongs to another
   * transaction.
   */
  has(token: string, content: unknown): boolean {
    const known = this.#byToken.get(token)
    if (known === undefined || this.#now() - known.at >= TOKEN_LIFE_MS) return false
    if (JSON.stringify(known.content, sortKeys) === JSON.stringify(content, sortKeys)) return true
    throw new ServiceError(
      'IdempotentParameterMismatchException',
      'The request used the same client token as an earlier one, with other parameters',
    )
  }

  remember(token: string, content: unknown): void {
    this.#byToken.set(token, { content, at: this.#now() })
  }
}

/** The order of parameters doesn't matter. */
function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
