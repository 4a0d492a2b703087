/** The one way in which a run ends that wasn't reviewed: each step repeatable, in any order, until done (DESIGN §7). */
import { executionArnOf, stopExecution } from '../aws/executions.ts'
import { type NudgeQueue, nudge } from '../aws/queue.ts'
import { reached } from '../base/failpoints.ts'
import { CONTRACT } from '../base/limits.ts'
import type { Documents } from '../documents/documents.ts'
import { putDocument } from '../documents/documents.ts'
import { readMessages, withdrawMessage } from '../ledger/message.ts'
import { raiseWhileEnding } from '../ledger/resource.ts'
import { readReviews } from '../ledger/review.ts'
import { endRun, readRun } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import { readThread } from '../ledger/thread.ts'
import { endedCheckRun } from '../publishing/check-run.ts'
import type { LabelResource } from '../publishing/github-payloads.ts'
import { isDone, reviewIdOf } from '../runs/review.ts'
import type { Run } from '../runs/run.ts'
import type { Thread } from '../runs/thread.ts'
import type { Coordinator } from './coordinator.ts'
import { endUnwanted } from './end-review.ts'
import { handOn } from './grant-slots.ts'
import { wakeWaiting } from './hold.ts'

export interface EndingParts extends Coordinator {
  readonly documents: Documents
  readonly outbox: NudgeQueue
  /** From it the ARN of the run's own execution follows. */
  readonly stateMachineArn: string
  /** True if the caller is the run's own execution, which ends by itself. */
  readonly keepExecution?: boolean
}

/**
 * Completes the ending of a run that is `ending`: its reviews end, their tickets and slots go, its execution is stopped,
 * its messages are looked at once more, its check run is completed, and the run is ended. False if it wasn't ending.
 */
export async function finishEnding(parts: EndingParts, runId: string): Promise<boolean> {
  const { ledger, now } = parts
  const run = await readRun(ledger, runId)
  if (run?.state !== 'ending') return false

  const reviews = (await readReviews(ledger, runId)).filter(({ attempt }) => attempt === run.attempt)
  const open = reviews.filter(({ state }) => !isDone(state))
  for (const review of open) {
    await endUnwanted(parts, review, 'ended')
  }
  POINT: await reached('ending.reviews_ended')
  await handOn(
    parts,
    reviews.map((review) => ({ reviewId: reviewIdOf(review), epoch: review.epoch })),
  )
  POINT: await reached('ending.places_given_up')
  if (!parts.keepExecution) {
    await stopExecution(parts.executions, executionArnOf(parts.stateMachineArn, run), run.reason?.code ?? 'ending')
  }
  POINT: await reached('ending.execution_stopped')
  await settleShown(parts, run)
  POINT: await reached('ending.shown_settled')
  const ended = await endRun(ledger, run, { outcome: run.outcome ?? 'failed', now: now() })
  POINT: await reached('ending.run_ended')
  if (ended) await wakeWaiting(parts, run)
  return ended
}

/** Messages are withdrawn unless they were submitted; what the run left on GitHub is settled. */
async function settleShown(parts: EndingParts, run: Run): Promise<void> {
  const { ledger, now } = parts
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  const messages = await readMessages(ledger, { ...pullRequest, runId: run.runId })
  for (const message of messages) await withdrawMessage(ledger, message, now())

  POINT: await reached('ending.messages_withdrawn')
  await contended(async () => {
    const thread = await readThread(ledger, pullRequest.repositoryId, pullRequest.number)
    const wanted = await leftBehind(parts, run, thread)
    if (wanted.length === 0) return 'settled'
    const raise = { ...pullRequest, runId: run.runId, wanted, now: now() }
    return raiseWhileEnding(ledger, run, thread?.version, raise)
  })
  POINT: await reached('ending.resources_raised')
  await nudge(parts.outbox, { contract: CONTRACT, ...pullRequest, runId: run.runId }, parts.nonce())
}

/** The head's check run is completed, unless another run speaks for that head; our label goes, unless one speaks at all. */
async function leftBehind({ documents }: EndingParts, run: Run, thread: Thread | undefined) {
  const another = thread?.liveRun !== undefined && thread.liveRun.runId !== run.runId
  if (another && thread.head === run.head) return []
  const checkRun = { kind: 'check_run', key: run.head, document: await putDocument(documents, endedCheckRun(run)) }
  if (another) return [checkRun]
  const noLabel: LabelResource = { kind: 'label', label: 'none' }
  return [checkRun, { kind: 'label', key: 'main', document: await putDocument(documents, noLabel) }]
}
