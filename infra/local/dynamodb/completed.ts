/** The tokens of finished transactions: a repeated token gets an answer instead of a second transaction. */
import { createHash } from 'node:crypto'
import { type Store, startingWith, type Write } from './dynalite.ts'
import { ServiceError } from './errors.ts'

const TOKEN_LIFE_MS = 10 * 60_000 // TransactWriteItems API reference: ten minutes after the request finished
const ROWS = 'transaction~'

interface Completed {
  readonly digest: string
  readonly at: number // ms since 1970
}

export class CompletedTransactions {
  readonly #byToken: Map<string, Completed> // oldest first
  readonly #store: Store
  readonly #now: () => number

  private constructor(store: Store, byToken: Map<string, Completed>, now: () => number) {
    this.#store = store
    this.#byToken = byToken
    this.#now = now
  }

  /** Loads the tokens of an earlier process. `now` is in milliseconds since 1970. */
  static async load(store: Store, now: () => number): Promise<CompletedTransactions> {
    const rows: [string, Completed][] = []
    for await (const [key, value] of store.db.iterator(startingWith(ROWS))) {
      rows.push([key.slice(ROWS.length), value as Completed])
    }
    return new CompletedTransactions(store, new Map(rows.sort(([, a], [, b]) => a.at - b.at)), now)
  }

  /**
   * Whether this transaction is done; throws `IdempotentParameterMismatchException` if the token stands for another.
   */
  has(token: string, content: unknown): boolean {
    const known = this.#byToken.get(token)
    if (known === undefined || this.#isOver(known)) return false
    if (known.digest === digestOf(content)) return true
    throw new ServiceError(
      'IdempotentParameterMismatchException',
      'The request used the same client token as an earlier one, with other parameters',
    )
  }

  /** Writes a transaction and its token in one batch, and forgets expired tokens. */
  async commit(token: string, content: unknown, writes: readonly Write[]): Promise<void> {
    const completed: Completed = { digest: digestOf(content), at: this.#now() }
    const over = this.#oldOnes()
    await this.#store.db.batch([
      ...writes,
      ...over.map((each): Write => ({ type: 'del', key: ROWS + each })),
      { type: 'put', key: ROWS + token, value: completed },
    ])
    for (const each of over) this.#byToken.delete(each)
    this.#byToken.set(token, completed)
  }

  #oldOnes(): string[] {
    const over: string[] = []
    for (const [token, completed] of this.#byToken) {
      if (!this.#isOver(completed)) break
      over.push(token)
    }
    return over
  }

  #isOver(completed: Completed): boolean {
    return this.#now() - completed.at >= TOKEN_LIFE_MS
  }
}

/** The order of the parameters doesn't matter. */
function digestOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content, sortKeys)).digest('base64')
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
