/** The steps that all messages have in common: due and leased as one, postponed, given up. */
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
    // Given up, it is always looked at a second time: what GitHub took, and didn't show while it was tried, stands there (IL2, LE14).
    async giveUp(because) {
      if (!isOpen(message)) return void (await recordRecheck(ledger, message, owner))
      const reason = isFailure(because, 'retry') ? `post_failed: ${because.message}` : because.message
      await settleMessage(ledger, message, owner, { state: 'failed', reason }, now() + ledger.timings.postLeaseMs)
    },
  }
}

/**
 * Ends whatever is due for a message whose run has been removed: a run that has ended is kept for RETENTION_S, messages
 * longer. Nobody knows any more where, or whether, it may be said, so GitHub isn't asked. Repeatable.
 */
export async function forgetMessage(deps: Leasing, message: Message): Promise<void> {
  const { ledger, owner } = deps
  if (!(await messageSteps(deps, message).lease())) return
  const reason = 'unknown_run: Its run was removed before it was said.'
  if (isOpen(message)) await settleMessage(ledger, message, owner, { state: 'failed', reason })
  else await recordRecheck(ledger, message, owner)
}
