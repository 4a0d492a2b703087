/** The sweeper's dependencies. */
import type { Log } from '../../shared/aws/log.ts'
import type { NudgeQueue } from '../../shared/aws/queue.ts'
import type { EndingDeps } from '../../shared/coordinator/ending.ts'

export interface SweepDeps extends EndingDeps {
  readonly inbox: NudgeQueue
  readonly log: Log
}
