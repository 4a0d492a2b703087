/** What a delivery asks of the command room: everything that isn't a head to be reviewed. */
import type { Repository } from './run.ts'

export interface PullRequestEvent {
  readonly kind: 'closed'
  readonly repository: Repository
  readonly number: number
  /** Identity of the event: the same one twice is written once. */
  readonly cause: string
  /** ms UTC */
  readonly eventAt: number
}
