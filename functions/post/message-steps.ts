/** The posting steps of every message: lease, postpone, give up. */
import { isFailure } from '../../shared/base/errors.ts'
import {
  leaseMessage,
  type Message,
  postponeMessage,
  recordRecheck,
  settleMessage,
} from '../../shared/ledger/message.ts'
import type { Posting } from './attempt-post.ts'
import { isDue, isOpen } from './core/posting.ts'
import type { PostDeps } from './deps.ts'

type Leasing = Pick<PostDeps, 'ledger' | 'owner' | 'now'>

export function messageSteps(
  { ledger, owner, now }: Leasing,
  message: Message,
): Pick<Posting<never, void>, 'item' | 'lease' | 'postpone' | 'giveUp'> {
  return {
    item: isOpen(message) ? message : { ...message, errors: 0 },
    lease: async () => isDue(message, now()) && leaseMessage(ledger, message, owner, now()),
    postpone: (until) => postponeMessage(ledger, message, owner, until),
    // A recheck is always due: GitHub may show later what it took during the attempts (IL2, LE14).
    async giveUp(because) {
      if (!isOpen(message)) return void (await recordRecheck(ledger, message, owner))
      const reason = isFailure(because, 'retry') ? `post_failed: ${because.message}` : because.message
      await settleMessage(ledger, message, owner, { state: 'failed', reason }, now() + ledger.timings.postLeaseMs)
    },
  }
}

/** Settles a message whose run was removed, without a call to GitHub: only the run knows the place. Repeatable. */
export async function forgetMessage(deps: Leasing, message: Message): Promise<void> {
  const { ledger, owner } = deps
  if (!(await messageSteps(deps, message).lease())) return
  const reason = 'unknown_run: The run was removed before the message was said.'
  if (isOpen(message)) await settleMessage(ledger, message, owner, { state: 'failed', reason })
  else await recordRecheck(ledger, message, owner)
}
