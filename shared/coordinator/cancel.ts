/** Cancels a run for a person or a program: its reviews end, and waiting reviews get its slots (LE6). */

import { failpoint } from '../base/failpoints.ts'
import { beginEnding, readRun, updateRun } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import type { Reason, Run } from '../runs/run.ts'
import { type EndingDeps, finishEnding } from './ending.ts'

/**
 * Ends the live attempt, or drops the requested next attempt of an ending run: the run is `cancelled`. Returns the run after
 * the cancellation, undefined for an unknown id; an ended run stays as it ended. `by` names the caller for people. Repeatable.
 * Throws Retry `busy`; by then the run may be ending, and the sweeper completes the ending.
 */
export async function cancelRun(deps: EndingDeps, runId: string, by: string): Promise<Run | undefined> {
  const { ledger, now } = deps
  const reason: Reason = { code: 'cancelled', sentence: `Cancelled by ${by}.` }
  await contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || run.state === 'ended') return 'nothing'
    if (run.askedAgain) {
      // The next attempt is cancelled: the reason of the attempt before would tell nothing to the person who asked for
      // the next.
      const cancellation = { outcome: 'cancelled', reason } as const
      return (await updateRun(ledger, run, cancellation, { now: now(), remove: ['askedAgain'] })) ? 'begun' : 'again'
    }
    await beginEnding(ledger, run, { outcome: 'cancelled', reason, now: now() })
    return 'begun'
  })
  FAILPOINT: await failpoint('cancel.ending_begun')
  await finishEnding(deps, runId)
  return readRun(ledger, runId)
}
