/** Halts: shown, set and lifted. Held runs go on once their halt is lifted. */

import { Refused } from '../../shared/base/errors.ts'
import { answer, type HttpAnswer } from '../../shared/base/http-answer.ts'
import { grantSlots } from '../../shared/coordinator/grant-slots.ts'
import { haltViewOf } from '../../shared/fleet/fleet-view.ts'
import { liftHalt, setHalt, standingHalts } from '../../shared/ledger/halt.ts'
import { callerOf, expectNothingIn, type HttpRequest, scopeIn, whyIn } from './core/request.ts'
import type { ApiDeps } from './deps.ts'

/** 200 with the halt of exactly the named scope. Throws Refused `unknown_halt` if none stands. */
export async function showHalt({ ledger }: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  const scope = scopeIn(request)
  const halt = (await standingHalts(ledger))[scope]
  if (!halt) throw new Refused('unknown_halt', `No halt stands for ${scope}.`, 'No halt needs lifting.')
  return answer(200, haltViewOf({ scope, ...halt }))
}

/** 200 with the standing halt: an operator's earlier halt stays, a pause is replaced. Throws Refused `halts_full`, Retry `busy`. */
export async function halt({ ledger, now, log }: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  const scope = scopeIn(request)
  const halt = await setHalt(ledger, { scope, by: callerOf(request), why: whyIn(request), since: now() })
  log.warn('Halted', { key: scope })
  return answer(200, haltViewOf(halt))
}

/** 200 with the lifted halt, or null. Waiting reviews get slots at once; held runs go on with the next sweep. */
export async function resume(deps: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  expectNothingIn(request)
  const scope = scopeIn(request)
  const lifted = await liftHalt(deps.ledger, scope)
  await grantSlots(deps)
  deps.log.warn('Resumed', { key: scope })
  return answer(200, { lifted: lifted.kind === 'lifted' ? haltViewOf(lifted.halt) : null })
}
