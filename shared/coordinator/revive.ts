/** GitHub shows a head whose run was superseded by one of the same second, or by a view that was behind: it is asked for again. */
import { causeOf, runIdOf } from '../identity.ts'
import { askAgain } from '../ledger/run-again.ts'
import type { Run } from '../run.ts'
import type { Coordinator } from './coordinator.ts'

/**
 * `overtaken` has found that GitHub shows `head` instead of its own. If the run of that head was superseded, nobody else would
 * review it: webhooks are ordered by seconds only, and GitHub decides (IL1, D3). Repeatable: once for each attempt that finds it.
 */
export async function reviveHead(
  { ledger, now }: Pick<Coordinator, 'ledger' | 'now'>,
  overtaken: Pick<Run, 'repository' | 'number' | 'baseRef' | 'runId' | 'attempt' | 'head'>,
  head: string,
): Promise<void> {
  if (head === overtaken.head) return
  const runId = runIdOf(overtaken.repository.id, overtaken.number, causeOf.head(head, overtaken.baseRef))
  await askAgain(ledger, runId, `revived:${overtaken.runId.slice(0, 16)}:${overtaken.attempt}`, now())
}
