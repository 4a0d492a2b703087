/** The end of a message that can't be said. */
import { type Message, settleMessage } from '../../shared/ledger/message.ts'
import type { PostDeps } from './deps.ts'

/**
 * Settles a message as failed, under our lease; `reason` is a sentence with its code. It is always looked at a second time:
 * what GitHub took, and didn't show while it was tried, stands there nevertheless, and then it was said (IL2, LE14).
 */
export async function giveUp(
  { ledger, owner, now }: Pick<PostDeps, 'ledger' | 'owner' | 'now'>,
  message: Message,
  reason: string,
): Promise<void> {
  const recheckAt = now() + ledger.timings.postLeaseMs
  await settleMessage(ledger, message, owner, { state: 'failed', reason }, recheckAt)
}
