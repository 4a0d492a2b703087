/** Cancelling a run because a person or a program asks for it: its reviews stop, its places go to who waits (LE6). */

import { failpoint } from '../base/failpoints.ts'
import { beginEnding, readRun, updateRun } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import type { Reason, Run } from '../runs/run.ts'
import { type EndingDeps, finishEnding } from './ending.ts'

/**
 * Ends the attempt that is live now, or what was asked for to follow one that is ending: the run is `cancelled` then. Answers
 * the run as it is then, undefined if there is none. `by` says for people who asked. Repeatable: a run that has ended stays as
 * it ended. Throws Retry `busy`; by then the run may be ending, which the sweeper completes.
 */
export async function cancelRun(deps: EndingDeps, runId: string, by: string): Promise<Run | undefined> {
  const { ledger, now } = deps
  const reason: Reason = { code: 'cancelled', sentence: `Cancelled by ${by}.` }
  await contended(async () => {
    const run = await readRun(ledger, runId)
    if (!run || run.state === 'ended') return 'nothing'
    if (run.askedAgain) {
      // What was to follow is what is cancelled: why the attempt before it ended would be no answer to who asked for it.
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
