/**
 * Says replies to commands. They belong to no run: each is said once under its own lease, also while its repository is
 * halted, for whoever pauses it is answered; a halt of the fleet or of the installation keeps Muster silent.
 */

import { isFailure, sentenceOf } from '../../shared/base/errors.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { type Replied, sayReply } from '../../shared/github/say-reply.ts'
import { standingHalts } from '../../shared/ledger/halt.ts'
import {
  leaseMessage,
  type Message,
  postponeMessage,
  recordRecheck,
  rememberPending,
  settleMessage,
  stillLeased,
} from '../../shared/ledger/message.ts'
import { replyMessageSchema } from '../../shared/publishing/github-payloads.ts'
import type { Repository } from '../../shared/runs/run.ts'
import { afterUnknown, isLeaseAbandoned, isRecheckDue, nextRecheckAt } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { giveUp } from './give-up.ts'
import { writingFor } from './writing.ts'

/** A message that is a reply. */
export type Reply = Message & { readonly repository: Repository }

export function isReply(message: Message): message is Reply {
  return message.repository !== undefined
}

/** Says a reply that is owed, or looks again at one that was settled. One that another poster holds is left to it. */
export async function showReply(deps: PostDeps, message: Reply): Promise<void> {
  const { ledger, owner, now, log } = deps
  if (message.state !== 'owed' && !isRecheckDue(message, now()) && !isLeaseAbandoned(message, now())) return
  if (!(await leaseMessage(ledger, message, owner, now()))) return
  const writing = writingFor(deps, message)
  const leaseMs = ledger.timings.postLeaseMs
  const recheckAt = () => nextRecheckAt(message, { now: now(), leaseMs, unanswered: writing.unanswered() })
  try {
    const replied = await say({ ...deps, github: writing.github }, message)
    await record(deps, message, replied, recheckAt())
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A reply can not be said', { code: error.code })
    if (message.state === 'owed') {
      await giveUp(deps, message, sentenceOf(error))
    } else {
      await recordRecheck(ledger, message, owner)
    }
  }
}

async function say({ ledger, documents, github, owner }: PostDeps, message: Reply): Promise<Replied> {
  const { repository, number, pendingId } = message
  const reply = await getDocument(documents, message.document, replyMessageSchema)
  const place = { repo: repository, number, ...(pendingId === undefined ? {} : { knownId: pendingId }) }
  return sayReply(github, place, reply, {
    checks: async () => {
      if (message.state !== 'owed' || !(await stillLeased(ledger, message, owner))) return 'stop'
      const halts = await standingHalts(ledger)
      return halts.fleet || halts[`installation/${repository.installationId}`] ? 'stop' : 'go'
    },
    onMade: async (commentId) => {
      await rememberPending(ledger, message, owner, commentId)
    },
  })
}

async function record(deps: PostDeps, message: Reply, replied: Replied, recheckAt: number | undefined): Promise<void> {
  const { ledger, owner, now, log } = deps
  if (replied.state === 'said') {
    await settleMessage(ledger, message, owner, { state: 'said', githubId: replied.commentId }, recheckAt)
    return
  }
  const lookLater = now() + ledger.timings.recheckMs
  if (replied.state === 'stopped') {
    if (message.state === 'owed')
      await postponeMessage(ledger, message, owner, { at: lookLater, error: false, recheckAt })
    else await recordRecheck(ledger, message, owner, recheckAt)
    return
  }
  const next = afterUnknown(replied.because, message.state === 'owed' ? message.errors : 0, now())
  log.warn('A reply is not shown yet', { code: replied.because.code, outcome: next.kind })
  if (next.kind === 'postpone') {
    await postponeMessage(ledger, message, owner, { ...next, recheckAt })
  } else {
    await giveUp(deps, message, `post_failed: ${replied.because.message}`)
  }
}
