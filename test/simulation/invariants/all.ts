/** Every invariant, by its id. */
import type { InvariantId } from './broken.ts'
import { idleInvariant } from './idle.ts'
import type { OpenInvariant } from './invariant.ts'
import { livenessInvariant } from './liveness.ts'
import { shownInvariant } from './shown.ts'
import { slotsInvariant } from './slots.ts'
import { threadInvariant } from './thread.ts'

export type Invariants = Readonly<Partial<Record<InvariantId, readonly OpenInvariant[]>>>

export const allInvariants: Invariants = {
  I1: [slotsInvariant, idleInvariant],
  I3: [shownInvariant],
  I5: [livenessInvariant],
  I7: [threadInvariant],
}
