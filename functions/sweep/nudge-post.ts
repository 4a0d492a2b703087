/** Nudges post to look at a run's messages and resources. */
import { randomUUID } from 'node:crypto'
import { nudge } from '../../shared/aws/queue.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import type { Tick } from './core/tick.ts'
import type { SweepDeps } from './deps.ts'

/** Once a tick for each run, as a run, its messages and its resources are often due together. */
export async function nudgePost(
  { outbox }: SweepDeps,
  about: { readonly repositoryId: number; readonly number: number; readonly runId: string },
  tick: Tick,
): Promise<void> {
  const { repositoryId, number, runId } = about
  const message = { contract: CONTRACT, repositoryId, number, runId }
  return tick.once(`post ${repositoryId}#${number} ${runId}`, () => nudge(outbox, message, randomUUID()))
}
