/** One attempt to post an item on GitHub. Messages, replies and resources share the order and bring their own steps. */
import type { LogFields } from '../../shared/aws/log.ts'
import { type Dead, isFailure, type Refused, type Retry } from '../../shared/base/errors.ts'
import type { GitHub } from '../../shared/github/github.ts'
import type { Stopped, Unknown } from '../../shared/publishing/outcome.ts'
import type { Repository } from '../../shared/runs/run.ts'
import { afterUnknown, nextRecheckAt } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { writingFor } from './writing.ts'

export interface Posting<Posted, Recorded> {
  readonly repository: Repository
  /** The item as read before its lease. */
  readonly item: { readonly errors: number; readonly owner?: string | undefined; readonly recheckAt?: number }
  /** Name and fields of the item in the log. */
  readonly logged: { readonly name: string; readonly fields: LogFields }
  /** False where nothing is due or another poster holds the item. */
  readonly lease: () => Promise<boolean>
  readonly attempt: (github: GitHub) => Promise<Posted | Stopped | Unknown>
  readonly settle: (posted: Posted, recheckAt: number | undefined) => Promise<Recorded>
  /** Due again at `at` (ms UTC); `error` counts toward giving up. `because` is absent after a stopped attempt. */
  readonly postpone: (
    until: { readonly at: number; readonly error: boolean; readonly recheckAt: number | undefined },
    because?: Retry,
  ) => Promise<Recorded>
  readonly giveUp: (because: Retry | Dead | Refused, recheckAt: number | undefined) => Promise<Recorded>
  /** Records a failure outside of GitHub; without this step the failure is thrown. */
  readonly unexpected?: (error: unknown) => Promise<Recorded>
}

/** Leases and tries an item, then settles, postpones or gives up. Undefined without the lease. */
export async function attemptPost<Posted extends { readonly state: string }, Recorded>(
  deps: PostDeps,
  posting: Posting<Posted, Recorded>,
): Promise<Recorded | undefined> {
  if (!(await posting.lease())) return undefined
  const { ledger, now, log } = deps
  const { item, logged } = posting
  const { postLeaseMs: leaseMs, recheckMs } = ledger.timings
  const { github, unanswered } = writingFor(deps, posting.repository)
  const recheckAt = () => nextRecheckAt(item, { now: now(), leaseMs, unanswered: unanswered() })
  try {
    const result = await posting.attempt(github)
    if (isPosted(result)) return await posting.settle(result, recheckAt())
    if (result.state === 'stopped') {
      return await posting.postpone({ at: now() + recheckMs, error: false, recheckAt: recheckAt() })
    }
    const { because } = result
    const next = afterUnknown(because, item.errors, now())
    log.warn(`${logged.name} is not shown yet`, { ...logged.fields, code: because.code, outcome: next.kind })
    if (next.kind === 'give_up') return await posting.giveUp(because, recheckAt())
    return await posting.postpone({ ...next, recheckAt: recheckAt() }, because)
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) {
      if (posting.unexpected) return posting.unexpected(error)
      throw error
    }
    log.error(`${logged.name} can not be shown`, { ...logged.fields, code: error.code })
    return posting.giveUp(error, recheckAt())
  }
}

function isPosted<Posted extends { readonly state: string }>(result: Posted | Stopped | Unknown): result is Posted {
  return result.state !== 'stopped' && result.state !== 'unknown'
}
