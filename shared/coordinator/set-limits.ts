/** Changing the fleet's limits: a raise grants at once, a lowering drains (DESIGN §5). */
import type { LimitsChange } from '../ceiling.ts'
import { updateLimits } from '../ledger/fleet.ts'
import { reached } from '../points.ts'
import type { Coordinator } from './coordinator.ts'
import { handOn } from './hand-on.ts'

/**
 * Changes the limits (a sparse patch; `revision` only if nobody may have changed them since) and grants what they allow
 * now: who waits under a raised limit waits no longer (IL13). Lowered, nothing is ended, and nothing granted until fewer
 * work (CE7). Refusals are values; throws Retry `busy`.
 */
export async function setLimits(coordinator: Coordinator, patch: unknown, revision?: number): Promise<LimitsChange> {
  const { ledger, nonce, now } = coordinator
  const change = await updateLimits(ledger, patch, { writer: nonce(), now: now(), revision })
  POINT: await reached('set_limits.written')
  if (change.kind === 'changed') await handOn(coordinator)
  return change
}
