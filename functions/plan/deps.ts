/** Dependencies of planning, before and after GitHub is open for the installation of the run. */
import type { Log } from '../../shared/aws/log.ts'
import type { EndingDeps } from '../../shared/coordinator/ending.ts'
import type { OpenApp } from '../../shared/github/app.ts'
import type { GitHub } from '../../shared/github/github.ts'
import type { PlanFacts } from './core/plan.ts'

export interface RoomDeps extends EndingDeps {
  readonly openInstallation: OpenApp
  readonly deploymentModel: PlanFacts['deploymentModel']
  readonly log: Log
}

export interface PlanDeps extends RoomDeps {
  readonly github: GitHub
}
