/** What planning works with. */
import type { Log } from '../../shared/aws/log.ts'
import type { NudgeQueue } from '../../shared/aws/queue.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import type { Documents } from '../../shared/documents/documents.ts'
import type { GitHub } from '../../shared/github/github.ts'
import type { PlanFacts } from './core/plan.ts'

export interface PlanDeps extends Coordinator {
  readonly documents: Documents
  readonly outbox: NudgeQueue
  readonly github: GitHub
  readonly deploymentModel: PlanFacts['deploymentModel']
  readonly log: Log
}
