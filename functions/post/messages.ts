/** Posts the reviews that a run owes: once each, under the message's lease, and only while the run may speak. */
import { failpoint } from '../../shared/base/failpoints.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { type Absent, recheckReview, sayReview } from '../../shared/github/say-review.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import {
  type Message,
  readMessage,
  readMessages,
  recordRecheck,
  rememberPending,
  settleMessage,
  stillLeased,
  withdrawMessage,
} from '../../shared/ledger/message.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { countRound, readThread } from '../../shared/ledger/thread.ts'
import { reviewMessageSchema } from '../../shared/publishing/github-payloads.ts'
import type { Said } from '../../shared/publishing/review-steps.ts'
import type { PullRequestShown } from '../../shared/runs/head.ts'
import type { Run } from '../../shared/runs/run.ts'
import { attemptPost, type Posting } from './attempt-post.ts'
import { isOpen, stopReason } from './core/posting.ts'
import type { PostDeps } from './deps.ts'
import { endClosed, endSuperseded } from './end-run.ts'
import { messageSteps } from './message-steps.ts'

/** Posts each message of the run that is due. Messages under the lease of another poster are left out. */
export async function postMessages(deps: PostDeps, run: Run): Promise<void> {
  const { ledger } = deps
  const messages = await readMessages(ledger, { repositoryId: run.repository.id, number: run.number, runId: run.runId })
  const isHalted = messages.some(({ state }) => state === 'owed') && (await standingHalt(ledger, run.repository))
  for (const message of messages) {
    // A halted message keeps its state: a lease taken and given back would cost two writes a minute.
    if (isHalted && message.state === 'owed') continue
    await attemptPost(deps, postingOf(deps, run, message))
  }
}

/**
 * An owed message is said; a withdrawing message loses its pending review. A settled message is rechecked: its pending
 * review goes, and a submitted review counts as said, with its round (IL2, IL14), also under a halt.
 */
function postingOf(deps: PostDeps, run: Run, message: Message): Posting<Said | Absent, void> {
  const { ledger, documents, owner } = deps
  const { repository, number } = run
  const steps = messageSteps(deps, message)
  let stopped: Awaited<ReturnType<typeof reasonToStop>> = {}
  return {
    ...steps,
    repository,
    logged: { name: 'A review', fields: { runId: run.runId } },
    async lease() {
      if (!(await steps.lease())) return false
      FAILPOINT: await failpoint('post.message_leased')
      return true
    },
    async attempt(github) {
      const payload = await getDocument(documents, message.document, reviewMessageSchema)
      if (!isOpen(message)) {
        const checks = async () => ((await stillLeased(ledger, message, owner)) ? 'go' : 'stop')
        return recheckReview(github, repository, number, payload.marker, checks)
      }
      const said = await sayReview(github, repository, number, payload, {
        pendingId: message.pendingId,
        checks: async () => {
          stopped = await reasonToStop(deps, message)
          return stopped.reason === undefined ? 'go' : 'stop'
        },
        onPending: async (reviewId) => {
          FAILPOINT: await failpoint('post.review_pending')
          await rememberPending(ledger, message, owner, reviewId)
          FAILPOINT: await failpoint('post.pending_remembered')
        },
      })
      FAILPOINT: await failpoint('post.review_said')
      return said
    },
    async settle(seen, recheckAt) {
      if (seen.state === 'said') await recordSaid(deps, run, message, seen, recheckAt)
      else await recordRecheck(ledger, message, owner, recheckAt)
    },
    async postpone(until, because) {
      // Without a recheck a settled message under an abandoned lease would stay due for ever.
      const again = isOpen(message) ? until : { ...until, error: false, recheckAt: until.at }
      if (because !== undefined) return steps.postpone(again, because)
      if (message.state === 'withdrawing') {
        await settleMessage(ledger, message, owner, { state: 'withdrawn' }, until.recheckAt)
      } else if (message.state === 'owed') {
        await steps.postpone(until)
        if (stopped.reason === 'head_moved') await endSuperseded(deps, run, stopped.pullRequest)
        if (stopped.reason === 'closed') await endClosed(deps, run, stopped.pullRequest?.updatedAt)
        if (stopped.reason === 'not_live') await withdrawIfOver(deps, message)
      }
    },
    async giveUp(because, recheckAt) {
      await steps.giveUp(because, recheckAt)
      if (because.name !== 'retry' && stopped.reason === 'head_moved')
        await endSuperseded(deps, run, stopped.pullRequest)
    },
  }
}

/** Records a visible review as said and counts its round, also without the lease. */
async function recordSaid(
  { ledger, owner, log }: PostDeps,
  run: Run,
  message: Message,
  seen: Said,
  recheckAt: number | undefined,
): Promise<void> {
  if (seen.repeated > 0) log.error('A review stands more than once', { runId: run.runId, count: seen.repeated + 1 })
  // The round counts before the message is said: after a crash in between, the recheck counts again (IL2).
  if (message.round > 0) await countRound(ledger, { repositoryId: run.repository.id, number: run.number }, message)
  FAILPOINT: await failpoint('post.round_counted')
  const said = { state: 'said', githubId: seen.reviewId } as const
  if (await settleMessage(ledger, message, owner, said, recheckAt)) return
  // The run began to end meanwhile. The message is said all the same: the end of the run waits for no lease.
  const current = await readMessage(ledger, message)
  if (current?.state === 'withdrawing') await settleMessage(ledger, current, owner, said, recheckAt)
}

/** Reads everything anew, right before each step that others see. */
async function reasonToStop(
  deps: PostDeps,
  message: Message,
): Promise<{ reason?: ReturnType<typeof stopReason>; pullRequest?: PullRequestShown }> {
  const { ledger, github, owner, now } = deps
  const run = await readRun(ledger, message.runId)
  if (!run || !(await stillLeased(ledger, message, owner))) return { reason: 'not_live' }
  const [thread, halt, pullRequest] = await Promise.all([
    readThread(ledger, message.repositoryId, message.number),
    standingHalt(ledger, run.repository),
    github.pullRequest(run.repository, run.number),
  ])
  return {
    reason: stopReason({ run, thread, message, halted: halt !== undefined, pullRequest, now: now() }),
    pullRequest,
  }
}

/** Withdraws a message of an attempt that is over, as the end of the run does. */
async function withdrawIfOver({ ledger, now }: PostDeps, message: Message): Promise<void> {
  const run = await readRun(ledger, message.runId)
  const over = run?.state === 'ended' || (run?.attempt ?? Infinity) > message.attempt
  if (over) await withdrawMessage(ledger, message, now())
}
