/** Holds a run under a halt, or behind an earlier run. Holding is no ending: completed reviews stay, and the run goes on later. */

import { failpoint } from '../base/failpoints.ts'
import { standingHalt } from '../ledger/halt.ts'
import { readReviews } from '../ledger/review.ts'
import { awaitEnd, wakeRun, writeHeld } from '../ledger/run.ts'
import { isDone } from '../runs/review.ts'
import type { Reason, Run } from '../runs/run.ts'
import type { Coordinator } from './coordinator.ts'
import { endUnwanted } from './end-review.ts'
import { grantSlots, slotOf } from './grant-slots.ts'

const HALTED: Reason = { code: 'halted', sentence: 'A halt stands for this repository.' }
const ATTEMPT_WAITS: Reason = { code: 'attempt_waits', sentence: 'The run waits for the review of this head.' }

/** A run at the attempt as read: a later attempt is never held for a reason met by an earlier attempt. */
type Attempt = Pick<Run, 'runId' | 'attempt' | 'repository'>

/**
 * Holds a run that met a halt: its open reviews end, leases, slots and tickets go, results and messages stay. The halt is read
 * once more afterwards: if it was lifted meanwhile, the list of held runs may have missed the run, which is then due at once
 * (IL12). False if the run has concluded, is ending, or is at another attempt. Repeatable.
 */
export async function holdForHalt(coordinator: Coordinator, run: Attempt): Promise<boolean> {
  const { ledger, now } = coordinator
  const held = await writeHeld(ledger, run, HALTED, now())
  if (!held) return false
  FAILPOINT: await failpoint('hold.written')
  const open = (await readReviews(ledger, run.runId)).filter(
    ({ attempt, state }) => attempt === run.attempt && !isDone(state),
  )
  for (const review of open) await endUnwanted(coordinator, review, 'held')
  FAILPOINT: await failpoint('hold.reviews_ended')
  if (open.length > 0) await grantSlots(coordinator, open.map(slotOf))
  FAILPOINT: await failpoint('hold.slots_released')
  if ((await standingHalt(ledger, run.repository)) === undefined) await wakeRun(ledger, run.runId, now())
  return true
}

/**
 * Holds a run until the awaited run has ended and wakes it; if the awaited run has ended before, the held run is due at once.
 * False as for a halt. Repeatable.
 */
export async function holdBehind(coordinator: Coordinator, run: Attempt, awaitedRunId: string): Promise<boolean> {
  const { ledger, now } = coordinator
  if (!(await writeHeld(ledger, run, ATTEMPT_WAITS, now()))) return false
  FAILPOINT: await failpoint('hold_behind.written')
  if (!(await awaitEnd(ledger, awaitedRunId, run.runId))) await wakeRun(ledger, run.runId, now())
  return true
}

/** Wakes the runs waiting for an ended run. After a death here, the unwoken runs are due by their own time. */
export async function wakeWaiting({ ledger, now }: Coordinator, run: Run): Promise<void> {
  for (const runId of run.awaitedBy ?? []) await wakeRun(ledger, runId, now())
}
