/** The dependencies of posting. */
import type { Log } from '../../shared/aws/log.ts'
import type { Documents } from '../../shared/documents/documents.ts'
import type { GitHub } from '../../shared/github/github.ts'
import type { Ledger } from '../../shared/ledger/table.ts'

export interface PostDeps {
  readonly ledger: Ledger
  readonly documents: Documents
  readonly github: GitHub
  /** Owner of the leases, fresh for each nudge. */
  readonly owner: string
  /** ms UTC */
  readonly now: () => number
  readonly log: Log
}
