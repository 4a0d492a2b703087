/** The plan of an attempt, and what GitHub shows from then on: written together, so that no ended run leaves it in progress. */
import type { Run } from '../runs/run.ts'
import { type Raise, raiseInTransaction } from './resource.ts'
import { changeInTransaction, contended, due, keyOf, type Ledger, transact } from './table.ts'

/**
 * Stores the plan of a run that is as it was read, and raises `wanted`, all at once; undefined if the run changed meanwhile.
 * A plan whose verdict is known already raises nothing.
 */
export async function writePlan(
  ledger: Ledger,
  run: Run,
  plan: Pick<Run, 'pools'> & {
    readonly digest: string
    readonly planKey: string
    readonly wanted: Raise['wanted']
    readonly now: number
  },
): Promise<Run | undefined> {
  const { now, wanted } = plan
  const key = keyOf.run(run.runId)
  const { repository, number, runId } = run
  const { digest, planKey, pools } = plan
  const members = { plan: digest, planKey, ...(pools ? { pools } : {}), version: run.version + 1 }
  const answer = await contended(async () => {
    const written = await transact(ledger, [
      changeInTransaction(ledger, key, {
        set: { ...members, ...due(key, now + ledger.timings.recheckMs) },
        if: { version: run.version },
      }),
      ...(wanted.length > 0
        ? [raiseInTransaction(ledger, { repositoryId: repository.id, number, runId, wanted, now })]
        : []),
    ])
    return !written.done && written.refused.length === 0 ? 'again' : written
  })
  return answer.done ? { ...run, ...members } : undefined
}
