/** What becomes of a message whose run has been removed: a run that has ended is kept for RETENTION_S, messages longer. */
import { leaseMessage, type Message, recordRecheck, settleMessage } from '../../shared/ledger/message.ts'
import { isLeaseAbandoned, isRecheckDue } from './core/posting.ts'
import type { PostDeps } from './deps.ts'

/** Whatever is due for it is over: nobody knows any more where, or whether, it may be said. GitHub isn't asked. Repeatable. */
export async function forgetMessage(
  { ledger, owner, now }: Pick<PostDeps, 'ledger' | 'owner' | 'now'>,
  message: Message,
): Promise<void> {
  const open = message.state === 'owed' || message.state === 'withdrawing'
  if (!open && !isRecheckDue(message, now()) && !isLeaseAbandoned(message, now())) return
  if (!(await leaseMessage(ledger, message, owner, now()))) return
  const reason = 'unknown_run: Its run was removed before it was said.'
  if (open) await settleMessage(ledger, message, owner, { state: 'failed', reason })
  else await recordRecheck(ledger, message, owner)
}
