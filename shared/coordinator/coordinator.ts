/** What the coordinator's steps need: the ledger, Step Functions, and a clock and nonces that are passed in. */
import type { Executions } from '../aws/executions.ts'
import type { Ledger } from '../ledger/table.ts'

export interface Coordinator {
  readonly ledger: Ledger
  readonly executions: Executions
  /** ms UTC */
  readonly now: () => number
  /** Fresh and unguessable at each call. */
  readonly nonce: () => string
}
