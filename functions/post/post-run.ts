/** Posts everything due for one run: its messages, its resources, and its end. */
import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { whileNew } from '../../shared/github/while-new.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { PostDeps } from './deps.ts'
import { postMessages } from './messages.ts'
import { keepResources } from './resources.ts'

/** True if the run owes nothing any more. Repeatable by anyone at any point, because the items carry the leases. */
export async function postRun({ github, ...rest }: PostDeps, coordinator: Coordinator, run: Run): Promise<boolean> {
  const deps = { ...rest, github: whileNew(github, run, rest.now) }
  await postMessages(deps, run)
  FAILPOINT: await failpoint('post.messages_said')
  await keepResources(deps, run)
  FAILPOINT: await failpoint('post.resources_shown')
  return finishIfShown(coordinator, run.runId)
}
