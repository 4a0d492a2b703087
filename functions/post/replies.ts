/**
 * Posts replies to commands. A reply belongs to no run and has its own lease. A halted repository gets its replies,
 * because whoever paused it expects an answer; a halt of the fleet or the installation silences them.
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
import { replyMessageSchema } from '../../shared/publishing/github-payloads.ts'
import type { Repository } from '../../shared/runs/run.ts'
import { attemptPost } from './attempt-post.ts'
import { isOpen } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { messageSteps } from './message-steps.ts'

/** A message without a run. */
export type Reply = Message & { readonly repository: Repository }

export function isReply(message: Message): message is Reply {
  return message.repository !== undefined
}

/** Posts or rechecks a reply. A reply under the lease of another poster is left alone. */
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
      const reply = await getDocument(documents, message.document, replyMessageSchema)
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
