/**
 * Says replies to commands. They belong to no run: each is said once under its own lease, also while its repository is
 * halted, for whoever pauses it is answered; a halt of the fleet or of the installation keeps Muster silent.
 */

import { getDocument } from '../../shared/documents/documents.ts'
import { sayReply } from '../../shared/github/say-reply.ts'
import { standingHalts } from '../../shared/ledger/halt.ts'
import {
  type Message,
  recordRecheck,
  rememberPending,
  settleMessage,
  stillLeased,
} from '../../shared/ledger/message.ts'
import type { ReplyMessage } from '../../shared/publishing/github-payloads.ts'
import type { Repository } from '../../shared/runs/run.ts'
import { attemptPost } from './attempt-post.ts'
import { isOpen } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { messageSteps } from './message-steps.ts'

/** A message that is a reply. */
export type Reply = Message & { readonly repository: Repository }

export function isReply(message: Message): message is Reply {
  return message.repository !== undefined
}

/** Says a reply that is owed, or looks again at one that was settled. One that another poster holds is left to it. */
export async function postReply(deps: PostDeps, message: Reply): Promise<void> {
  const { ledger, documents, owner } = deps
  const { repository, number, pendingId } = message
  const place = { repo: repository, number, knownId: pendingId }
  const steps = messageSteps(deps, message)
  await attemptPost(deps, {
    ...steps,
    repository,
    logged: { name: 'A reply', fields: {} },
    async attempt(github) {
      const reply = await getDocument<ReplyMessage>(documents, message.document)
      return sayReply(github, place, reply, {
        checks: async () => {
          if (!isOpen(message) || !(await stillLeased(ledger, message, owner))) return 'stop'
          const halts = await standingHalts(ledger)
          return halts.fleet || halts[`installation/${repository.installationId}`] ? 'stop' : 'go'
        },
        onMade: async (commentId) => {
          await rememberPending(ledger, message, owner, commentId)
        },
      })
    },
    async settle({ commentId }, recheckAt) {
      await settleMessage(ledger, message, owner, { state: 'said', githubId: commentId }, recheckAt)
    },
    async postpone(until, because) {
      if (isOpen(message) || because !== undefined) await steps.postpone(until, because)
      else await recordRecheck(ledger, message, owner, until.recheckAt)
    },
  })
}
