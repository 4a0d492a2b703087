/** Holding a run: a halt, or a review that comes first, is no ending. What was completed stays, and it goes on (DESIGN §7). */

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
const WAITS: Reason = { code: 'attempt_waits', sentence: 'It waits for the review of this head.' }

/** Which run: what was read of it, so that another attempt is never held by what this one met. */
type Attempt = Pick<Run, 'runId' | 'attempt' | 'repository'>

/**
 * A run that met a halt waits: its reviews that aren't done end, leases, slots and tickets go, results and messages stay. The
 * halt is read once more afterwards: lifted meanwhile, whoever listed the held runs may have missed this one, and it is due
 * at once (IL12). False if it has concluded, is ending, or is at another attempt. Repeatable.
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
 * A run waits until `awaited` has ended, which wakes it then; one that ended before it could be asked has nothing to wait for,
 * and this one is due at once. False as for a halt. Repeatable.
 */
export async function holdBehind(coordinator: Coordinator, run: Attempt, awaited: string): Promise<boolean> {
  const { ledger, now } = coordinator
  if (!(await writeHeld(ledger, run, WAITS, now()))) return false
  FAILPOINT: await failpoint('hold_behind.written')
  if (!(await awaitEnd(ledger, awaited, run.runId))) await wakeRun(ledger, run.runId, now())
  return true
}

/** Wakes who waits for a run that has ended. Who isn't woken, because of a death here, is found by its own time. */
export async function wakeWaiting({ ledger, now }: Coordinator, run: Run): Promise<void> {
  for (const waiting of run.awaitedBy ?? []) await wakeRun(ledger, waiting, now())
}
