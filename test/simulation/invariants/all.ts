/** Every invariant, by id. */
import type { InvariantId } from './broken.ts'
import { fenceInvariant } from './fence.ts'
import { findingsInvariant } from './findings.ts'
import { haltsInvariant } from './halts.ts'
import { idleInvariant } from './idle.ts'
import type { OpenInvariant } from './invariant.ts'
import { livenessInvariant } from './liveness.ts'
import { monotoneInvariant } from './monotone.ts'
import { replaysInvariant } from './replays.ts'
import { resultsInvariant } from './results.ts'
import { secretsInvariant } from './secrets.ts'
import { shownInvariant } from './shown.ts'
import { slotsInvariant } from './slots.ts'
import { supersessionInvariant } from './supersession.ts'
import { threadInvariant } from './thread.ts'
import { wholeInvariant } from './whole.ts'

export type Invariants = Readonly<Partial<Record<InvariantId, readonly OpenInvariant[]>>>

export const allInvariants: Invariants = {
  I1: [slotsInvariant, idleInvariant],
  I2: [resultsInvariant],
  I3: [shownInvariant],
  I4: [supersessionInvariant],
  I5: [livenessInvariant],
  I6: [findingsInvariant],
  I7: [threadInvariant],
  I8: [fenceInvariant, monotoneInvariant, secretsInvariant],
  I9: [replaysInvariant],
  halts: [haltsInvariant],
  whole: [wholeInvariant],
}
