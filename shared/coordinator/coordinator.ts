/** Dependencies of the coordinator's steps: the ledger, Step Functions, a clock and nonces. */
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
