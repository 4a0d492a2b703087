/** Says what a run owes to say: once, under the message's lease, and only while the run may speak (DESIGN §9). */
import { getDocument } from '../../shared/documents/documents.ts'
import { isFailure, sentenceOf } from '../../shared/errors.ts'
import { type Said, sayReview } from '../../shared/github/say-review.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import {
  leaseMessage,
  type Message,
  postponeMessage,
  readMessages,
  rememberPending,
  settleMessage,
  stillLeased,
} from '../../shared/ledger/message.ts'
import { beginEnding, readRun } from '../../shared/ledger/run.ts'
import { countRound, readThread } from '../../shared/ledger/thread.ts'
import type { Reason, Run } from '../../shared/run.ts'
import type { ReviewMessage } from '../../shared/shown.ts'
import type { PostParts } from './parts.ts'
import { afterUnknown, stopReason } from './post.ts'

/** Every message of the run that is still owed, or is being withdrawn. One that another poster holds is left to it. */
export async function sayMessages(parts: PostParts, run: Run): Promise<void> {
  const { ledger, owner, now } = parts
  const messages = await readMessages(ledger, { repositoryId: run.repository.id, number: run.number, runId: run.runId })
  for (const message of messages) {
    if (message.state !== 'owed' && message.state !== 'withdrawing') continue
    if (await leaseMessage(ledger, message, owner, now())) await say(parts, run, message)
  }
}

async function say(parts: PostParts, run: Run, message: Message): Promise<void> {
  const { ledger, documents, github, owner, log } = parts
  const payload = await getDocument<ReviewMessage>(documents, message.document)
  let stopped: Awaited<ReturnType<typeof reasonToStop>>
  try {
    const said = await sayReview(github, run.repository, run.number, payload, {
      checks: async () => {
        stopped = await reasonToStop(parts, message)
        return stopped === undefined ? 'go' : 'stop'
      },
      onPending: async (reviewId) => {
        await rememberPending(ledger, message, owner, reviewId)
      },
      ...(message.pendingId === undefined ? {} : { pendingId: message.pendingId }),
    })
    await settle(parts, run, message, said, stopped)
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A review can not be said', { runId: run.runId, code: error.code })
    await settleMessage(ledger, message, owner, { state: 'failed', reason: sentenceOf(error) })
    if (stopped === 'head_moved') await overtaken(parts, run)
  }
}

async function settle(
  parts: PostParts,
  run: Run,
  message: Message,
  said: Said,
  stopped: Awaited<ReturnType<typeof reasonToStop>>,
): Promise<void> {
  const { ledger, owner, now, log } = parts
  if (said.state === 'said') {
    if (said.repeated > 0) log.error('A review stands more than once', { runId: run.runId, count: said.repeated + 1 })
    await settleMessage(ledger, message, owner, { state: 'said', githubId: said.reviewId })
    await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)
    return
  }
  if (said.state === 'stopped') {
    if (message.state === 'withdrawing') {
      await settleMessage(ledger, message, owner, { state: 'withdrawn' })
      return
    }
    await postponeMessage(ledger, message, owner, { at: now() + ledger.timings.lookMs, error: false })
    if (stopped === 'head_moved') await overtaken(parts, run)
    return
  }
  const next = afterUnknown(said.because, message.errors, now())
  log.warn('A review is not shown yet', { runId: run.runId, code: said.because.code, outcome: next.kind })
  if (next.kind === 'postpone') await postponeMessage(ledger, message, owner, next)
  else await settleMessage(ledger, message, owner, { state: 'failed', reason: `post_failed: ${said.because.message}` })
}

/** Asked right before each step that others would see; everything is read anew. */
async function reasonToStop(parts: PostParts, message: Message) {
  const { ledger, github, owner } = parts
  const run = await readRun(ledger, message.runId)
  if (!run || !(await stillLeased(ledger, message, owner))) return 'not_live'
  const [thread, halt, pullRequest] = await Promise.all([
    readThread(ledger, message.repositoryId, message.number),
    standingHalt(ledger, run.repository),
    github.pullRequest(run.repository, run.number),
  ])
  return stopReason({ run, thread, message, halted: halt !== undefined, shownHead: pullRequest.head.sha })
}

/** GitHub shows another head, whose own run may not have begun: this one ends, and the sweeper finishes its ending (PR2). */
export async function overtaken({ ledger, now }: PostParts, run: Run): Promise<void> {
  const reason: Reason = { code: 'head_superseded', sentence: 'GitHub shows a newer head.' }
  await beginEnding(ledger, run, { outcome: 'superseded', reason, now: now() })
}
