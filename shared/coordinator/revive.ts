/** Asks again for a head that GitHub shows although its run was superseded or closed. */

import { askAgain } from '../ledger/run.ts'
import type { PullRequestShown } from '../runs/head.ts'
import type { Run } from '../runs/run.ts'
import { causeOf, runIdOf } from '../runs/run-identity.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * `overtaken` has found another head on GitHub than its own. If the run of GitHub's head was superseded, or closed before a
 * reopening, no other run would review it: webhooks are ordered by seconds only, may get lost, and GitHub decides (IL1, D3).
 * The request is as late as GitHub's `updatedAt`: an earlier event of the revived run must not prevent its claim. Repeatable:
 * once for each attempt that finds the head.
 */
export async function reviveHead(
  { ledger, now }: Pick<Coordinator, 'ledger' | 'now'>,
  overtaken: Pick<Run, 'repository' | 'number' | 'baseRef' | 'runId' | 'attempt' | 'head' | 'eventAt'>,
  shown: PullRequestShown,
): Promise<void> {
  const head = shown.head.sha
  if (head === overtaken.head || shown.state !== 'open') return
  const runId = runIdOf(overtaken.repository.id, overtaken.number, causeOf.head(head, overtaken.baseRef))
  const askedId = `revived:${overtaken.runId.slice(0, 16)}:${overtaken.attempt}`
  await askAgain(ledger, runId, { askedId, eventAt: shown.updatedAt, after: overtaken.eventAt }, now())
}
