/** GitHub shows a head whose run was superseded or closed, or would be: it is asked for again, as of what GitHub shows. */

import { askAgain } from '../ledger/run.ts'
import type { PullRequestShown } from '../runs/head.ts'
import type { Run } from '../runs/run.ts'
import { causeOf, runIdOf } from '../runs/run-identity.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * `overtaken` has found that GitHub shows another head than its own. If the run of that head was superseded, or ended because
 * the pull request was closed, which is open now, nobody else would review it: webhooks are ordered by seconds only, one may be
 * lost, and GitHub decides (IL1, D3). What GitHub shows is as late as its `updatedAt`, so that the earlier event of its run
 * doesn't keep it from its claim. Repeatable: once for each attempt that finds it.
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
