/** Changes the fleet's limits: a raise grants at once, a lowering drains. */

import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import type { LimitsChange } from '../../shared/fleet/ceiling.ts'
import { updateLimits } from '../../shared/ledger/fleet.ts'

/**
 * Changes the limits by a sparse patch, and grants at once whatever the new limits allow (IL13). After a lowering no
 * review is ended, and no slot granted until enough reviews have ended (CE7). With `revision`, limits changed since are
 * refused. Refusals are values; throws Retry `busy`.
 */
export async function setLimits(coordinator: Coordinator, patch: unknown, revision?: number): Promise<LimitsChange> {
  const { ledger, nonce, now } = coordinator
  const change = await updateLimits(ledger, patch, { writer: nonce(), now: now(), revision })
  FAILPOINT: await failpoint('set_limits.written')
  if (change.kind === 'changed') await grantSlots(coordinator)
  return change
}
