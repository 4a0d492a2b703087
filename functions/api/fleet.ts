/** The fleet: shown with its slots and tickets, and given new limits, which take effect at once. */

import { Refused } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { answer, type HttpAnswer } from '../../shared/base/http-answer.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import type { LimitsChange } from '../../shared/fleet/ceiling.ts'
import { fleetViewOf } from '../../shared/fleet/fleet-view.ts'
import { readFleet, readWaiting, updateLimits } from '../../shared/ledger/fleet.ts'
import { standingHalts } from '../../shared/ledger/halt.ts'
import { type HttpRequest, jsonIn, revisionIn } from './core/request.ts'
import type { ApiDeps } from './deps.ts'

/** 200 with the fleet's view, and the revision of the limits as its entity tag. */
export async function showFleet({ ledger }: ApiDeps): Promise<HttpAnswer> {
  const [fleet, waiting, halts] = await Promise.all([readFleet(ledger), readWaiting(ledger), standingHalts(ledger)])
  const standing = Object.entries(halts).flatMap(([scope, halt]) => (halt ? [{ scope, ...halt }] : []))
  const closed = Object.fromEntries(Object.entries(fleet.closed).map(([pool, { until }]) => [pool, until]))
  const view = fleetViewOf({ ...fleet, waiting, closed, halts: standing })
  return answer(200, view, { etag: `"${view.revision}"` })
}

/**
 * 200 with the effective limits after a sparse change. Throws Refused `limits_invalid` and `limit_above_ceiling` (CE2), Refused
 * `limits_changed` if `If-Match` names an earlier revision, and Retry `busy`.
 */
export async function changeLimits(deps: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  const change = await setLimits(deps, jsonIn(request), revisionIn(request))
  if (change.kind === 'refused') throw new Refused(change.code, change.sentence, REMEDIES[change.code] ?? '')
  deps.log.info('Limits changed', { count: change.limits.revision ?? 0 })
  return showFleet(deps)
}

const REMEDIES: Readonly<Record<string, string>> = {
  limits_invalid: 'Name only the limits to change; null takes a value back to its default.',
  limit_above_ceiling: 'Ask for less, or raise the named limit in the same change.',
  limits_changed: 'Read the fleet again, and decide again.',
}

/**
 * Changes the limits by a sparse patch, and grants at once whatever the new limits allow (IL13). After a lowering no review is
 * ended, and no slot granted until enough reviews have ended (CE7). With `revision`, limits changed since are refused. Refusals
 * are values; throws Retry `busy`.
 */
export async function setLimits(coordinator: Coordinator, patch: unknown, revision?: number): Promise<LimitsChange> {
  const { ledger, nonce, now } = coordinator
  const change = await updateLimits(ledger, patch, { writer: nonce(), now: now(), revision })
  FAILPOINT: await failpoint('set_limits.written')
  if (change.kind === 'changed') await grantSlots(coordinator)
  return change
}
