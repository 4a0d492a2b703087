/** Says what a run owes to say: once, under the message's lease, and only while the run may speak (DESIGN §9). */

import { isFailure, sentenceOf } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { reviveHead } from '../../shared/coordinator/revive.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { recheckReview } from '../../shared/github/recheck-review.ts'
import { sayReview } from '../../shared/github/say-review.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import {
  leaseMessage,
  type Message,
  postponeMessage,
  readMessage,
  readMessages,
  recordRecheck,
  rememberPending,
  settleMessage,
  stillLeased,
  withdrawMessage,
} from '../../shared/ledger/message.ts'
import { beginEnding, readRun } from '../../shared/ledger/run.ts'
import { countRound, readThread } from '../../shared/ledger/thread.ts'
import { reviewMessageSchema } from '../../shared/publishing/github-payloads.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import type { Reason, Run } from '../../shared/runs/run.ts'
import { afterUnknown, isLeaseAbandoned, isRecheckDue, nextRecheckAt, stopReason } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { giveUp } from './give-up.ts'
import { type Writing, writingFor } from './writing.ts'

/** Every message of the run that is owed, being withdrawn, or to be looked at again. One that another poster holds is left to it. */
export async function sayMessages(deps: PostDeps, run: Run): Promise<void> {
  const { ledger, owner, now } = deps
  const messages = await readMessages(ledger, { repositoryId: run.repository.id, number: run.number, runId: run.runId })
  const isHalted = messages.some(({ state }) => state === 'owed') && (await standingHalt(ledger, run.repository))
  for (const message of messages) {
    // It waits for the end of the halt as it stands: taking its lease and giving it back would cost two writes a minute.
    if (isHalted && message.state === 'owed') continue
    const open = message.state === 'owed' || message.state === 'withdrawing'
    if (!open && !isRecheckDue(message, now()) && !isLeaseAbandoned(message, now())) continue
    if (!(await leaseMessage(ledger, message, owner, now()))) continue
    FAILPOINT: await failpoint('post.message_leased')
    if (open) await say(deps, run, message)
    else await sayAgain(deps, run, message)
  }
}

async function say(deps: PostDeps, run: Run, message: Message): Promise<void> {
  const { ledger, documents, owner, now, log } = deps
  const writing = writingFor(deps, run)
  const recheckAt = () => recheckAtOf(deps, message, writing)
  let stopped: Awaited<ReturnType<typeof reasonToStop>> = {}
  try {
    const payload = await getDocument(documents, message.document, reviewMessageSchema)
    const said = await sayReview(writing.github, run.repository, run.number, payload, {
      checks: async () => {
        stopped = await reasonToStop(deps, message)
        return stopped.reason === undefined ? 'go' : 'stop'
      },
      onPending: async (reviewId) => {
        FAILPOINT: await failpoint('post.review_pending')
        await rememberPending(ledger, message, owner, reviewId)
        FAILPOINT: await failpoint('post.pending_remembered')
      },
      ...(message.pendingId === undefined ? {} : { pendingId: message.pendingId }),
    })
    FAILPOINT: await failpoint('post.review_said')
    if (said.state === 'said') {
      await shown(deps, run, message, said, recheckAt())
    } else if (said.state === 'unknown') {
      const next = afterUnknown(said.because, message.errors, now())
      log.warn('A review is not shown yet', { runId: run.runId, code: said.because.code, outcome: next.kind })
      if (next.kind === 'postpone') {
        await postponeMessage(ledger, message, owner, { ...next, recheckAt: recheckAt() })
      } else {
        await giveUp(deps, message, `post_failed: ${said.because.message}`)
      }
    } else if (message.state === 'withdrawing') {
      await settleMessage(ledger, message, owner, { state: 'withdrawn' }, recheckAt())
    } else {
      const at = now() + ledger.timings.recheckMs
      await postponeMessage(ledger, message, owner, { at, error: false, recheckAt: recheckAt() })
      if (stopped.reason === 'head_moved') await overtaken(deps, run, stopped.shown)
      if (stopped.reason === 'closed') await closed(deps, run, stopped.shown?.updatedAt)
      if (stopped.reason === 'not_live') await withdrawIfOver(deps, message)
    }
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A review can not be said', { runId: run.runId, code: error.code })
    await giveUp(deps, message, sentenceOf(error))
    if (stopped.reason === 'head_moved') await overtaken(deps, run, stopped.shown)
  }
}

/**
 * The second look at a settled message: a pending review that was left behind goes, and one that was submitted though the
 * message was withdrawn or given up counts as said, with its round (IL2, IL14). Halts don't keep it: nothing new is said.
 */
async function sayAgain(deps: PostDeps, run: Run, message: Message): Promise<void> {
  const { ledger, documents, owner, now, log } = deps
  const writing = writingFor(deps, run)
  try {
    const { marker } = await getDocument(documents, message.document, reviewMessageSchema)
    const seen = await recheckReview(writing.github, run.repository, run.number, marker, async () =>
      (await stillLeased(ledger, message, owner)) ? 'go' : 'stop',
    )
    if (seen.state === 'stopped') return
    if (seen.state === 'unknown') {
      const next = afterUnknown(seen.because, 0, now())
      const at = next.kind === 'postpone' ? next.at : now() + ledger.timings.recheckMs
      log.warn('A review was not looked at again yet', { runId: run.runId, code: seen.because.code })
      // Also where it was due for a lease alone that was never given back: nothing else would make it be looked at.
      await postponeMessage(ledger, message, owner, { at, error: false, recheckAt: at })
      return
    }
    const recheckAt = recheckAtOf(deps, message, writing)
    if (seen.reviewId === undefined) await recordRecheck(ledger, message, owner, recheckAt)
    else await shown(deps, run, message, { reviewId: seen.reviewId, repeated: seen.repeated }, recheckAt)
  } catch (error) {
    if (!isFailure(error, 'dead') && !isFailure(error, 'refused')) throw error
    log.error('A review can not be looked at again', { runId: run.runId, code: error.code })
    await recordRecheck(ledger, message, owner)
  }
}

/** What stands on GitHub is said, and its round counts, whoever holds the message by now. */
async function shown(
  { ledger, owner, log }: PostDeps,
  run: Run,
  message: Message,
  seen: { readonly reviewId: number; readonly repeated: number },
  recheckAt: number | undefined,
): Promise<void> {
  if (seen.repeated > 0) log.error('A review stands more than once', { runId: run.runId, count: seen.repeated + 1 })
  // Counted before it is marked: who dies in between leaves it to be looked at, and counted, again (IL2).
  if (message.round > 0) await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)
  FAILPOINT: await failpoint('post.round_counted')
  const said = { state: 'said', githubId: seen.reviewId } as const
  if (await settleMessage(ledger, message, owner, said, recheckAt)) return
  // Its run began to end meanwhile: it is said nevertheless, and who waits to know needn't wait for our lease to end.
  const current = await readMessage(ledger, message)
  if (current?.state === 'withdrawing') await settleMessage(ledger, current, owner, said, recheckAt)
}

function recheckAtOf({ ledger, now }: PostDeps, message: Message, writing: Writing): number | undefined {
  const leaseMs = ledger.timings.postLeaseMs
  return nextRecheckAt(message, { now: now(), leaseMs, unanswered: writing.unanswered() })
}

/** Asked right before each step that others would see; everything is read anew. */
async function reasonToStop(
  deps: PostDeps,
  message: Message,
): Promise<{ reason?: ReturnType<typeof stopReason>; shown?: PullRequestShown }> {
  const { ledger, github, owner, now } = deps
  const run = await readRun(ledger, message.runId)
  if (!run || !(await stillLeased(ledger, message, owner))) return { reason: 'not_live' }
  const [thread, halt, shown] = await Promise.all([
    readThread(ledger, message.repositoryId, message.number),
    standingHalt(ledger, run.repository),
    github.pullRequest(run.repository, run.number),
  ])
  return { reason: stopReason({ run, thread, message, halted: halt !== undefined, shown, now: now() }), shown }
}

/** One that is owed by an attempt that is over is owed by nobody: it is withdrawn, as an ending does it. */
async function withdrawIfOver({ ledger, now }: PostDeps, message: Message): Promise<void> {
  const run = await readRun(ledger, message.runId)
  const over = run?.state === 'ended' || (run?.attempt ?? Infinity) > message.attempt
  if (over) await withdrawMessage(ledger, message, now())
}

/** It was closed at `eventAt` (ms UTC), and its event is late or was lost: this run ends as that would have ended it (L4). */
async function closed({ ledger, now }: PostDeps, run: Run, eventAt = Infinity): Promise<void> {
  const reason: Reason = { code: 'pull_request_closed', sentence: 'The pull request was closed.' }
  await beginEnding(ledger, run, { outcome: 'closed', reason, eventAt, now: now() })
}

/**
 * GitHub shows another head, whose own run may not have begun: this one ends, and the sweeper finishes its ending (PR2). Where
 * that head's run was superseded by this one, it is asked for again.
 */
export async function overtaken(deps: PostDeps, run: Run, shown: PullRequestShown | undefined): Promise<void> {
  const { ledger, now } = deps
  const reason: Reason = { code: 'head_superseded', sentence: 'GitHub shows a newer head.' }
  await beginEnding(ledger, run, { outcome: 'superseded', reason, asOf: run.eventAt, now: now() })
  if (shown !== undefined) await reviveHead(deps, run, shown)
}
