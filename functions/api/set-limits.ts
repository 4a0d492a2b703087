/** Changing the fleet's limits: a raise grants at once, a lowering drains (DESIGN §5). */

import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import type { LimitsChange } from '../../shared/fleet/ceiling.ts'
import { updateLimits } from '../../shared/ledger/fleet.ts'

/**
 * Changes the limits (a sparse patch; `revision` only if nobody may have changed them since) and grants what they allow
 * now: who waits under a raised limit waits no longer (IL13). Lowered, nothing is ended, and nothing granted until fewer
 * work (CE7). Refusals are values; throws Retry `busy`.
 */
export async function setLimits(coordinator: Coordinator, patch: unknown, revision?: number): Promise<LimitsChange> {
  const { ledger, nonce, now } = coordinator
  const change = await updateLimits(ledger, patch, { writer: nonce(), now: now(), revision })
  FAILPOINT: await failpoint('set_limits.written')
  if (change.kind === 'changed') await grantSlots(coordinator)
  return change
}
