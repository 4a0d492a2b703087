/** The ending of an unreviewed run: superseded, cancelled, closed and failed runs all end by the same repeatable steps. */
import { executionArnOf, stopExecution } from '../aws/executions.ts'
import { type NudgeQueue, nudge } from '../aws/queue.ts'
import { failpoint } from '../base/failpoints.ts'
import { CONTRACT } from '../base/limits.ts'
import { type Documents, putDocument } from '../documents/documents.ts'
import { readMessages, withdrawMessage } from '../ledger/message.ts'
import { raiseWhileEnding } from '../ledger/resource.ts'
import { readReviews } from '../ledger/review.ts'
import { endRun, readRun } from '../ledger/run.ts'
import { contended } from '../ledger/table.ts'
import { readThread } from '../ledger/thread.ts'
import { endedCheckRun } from '../publishing/check-run.ts'
import type { LabelResource } from '../publishing/github-payloads.ts'
import { isDone } from '../runs/review.ts'
import type { Run } from '../runs/run.ts'
import type { Thread } from '../runs/thread.ts'
import type { Coordinator } from './coordinator.ts'
import { endUnwanted } from './end-review.ts'
import { grantSlots, slotOf } from './grant-slots.ts'
import { wakeWaiting } from './hold.ts'

export interface EndingDeps extends Coordinator {
  readonly documents: Documents
  readonly outbox: NudgeQueue
  /** The ARN of the run's own execution follows from it. */
  readonly stateMachineArn: string
  /** True if the caller is the run's own execution, which ends by itself. */
  readonly keepExecution?: boolean
}

/**
 * Completes the ending of a run in state `ending`: its reviews end, its tickets and slots go, its execution stops, its messages
 * are withdrawn, its check run is completed, and the run is ended. False for a run in any other state.
 */
export async function finishEnding(deps: EndingDeps, runId: string): Promise<boolean> {
  const { ledger, now } = deps
  const run = await readRun(ledger, runId)
  if (run?.state !== 'ending') return false

  const reviews = (await readReviews(ledger, runId)).filter(({ attempt }) => attempt === run.attempt)
  for (const review of reviews) if (!isDone(review.state)) await endUnwanted(deps, review, 'ended')
  FAILPOINT: await failpoint('ending.reviews_ended')
  await grantSlots(deps, reviews.map(slotOf))
  FAILPOINT: await failpoint('ending.slots_released')
  if (!deps.keepExecution) {
    await stopExecution(deps.executions, executionArnOf(deps.stateMachineArn, run), run.reason?.code ?? 'ending')
  }
  FAILPOINT: await failpoint('ending.execution_stopped')
  await settleShown(deps, run)
  FAILPOINT: await failpoint('ending.shown_settled')
  const ended = await endRun(ledger, run, { outcome: run.outcome ?? 'failed', now: now() })
  FAILPOINT: await failpoint('ending.run_ended')
  if (ended) await wakeWaiting(deps, run)
  return ended
}

/** Withdraws the unsubmitted messages, and raises the final state of the run's resources. */
async function settleShown(deps: EndingDeps, run: Run): Promise<void> {
  const { ledger, now } = deps
  const pullRequest = { repositoryId: run.repository.id, number: run.number }
  const messages = await readMessages(ledger, { ...pullRequest, runId: run.runId })
  for (const message of messages) await withdrawMessage(ledger, message, now())

  FAILPOINT: await failpoint('ending.messages_withdrawn')
  await contended(async () => {
    const thread = await readThread(ledger, pullRequest.repositoryId, pullRequest.number)
    const wanted = await finalResources(deps, run, thread)
    if (wanted.length === 0) return 'settled'
    const raise = { ...pullRequest, runId: run.runId, wanted, now: now() }
    return raiseWhileEnding(ledger, run, thread?.version, raise)
  })
  FAILPOINT: await failpoint('ending.resources_raised')
  await nudge(deps.outbox, { contract: CONTRACT, ...pullRequest, runId: run.runId }, deps.nonce())
}

/** Completes the check run of the head, unless another run speaks for the head; removes our label, unless any run speaks. */
async function finalResources({ documents }: EndingDeps, run: Run, thread: Thread | undefined) {
  const isReplaced = thread?.liveRun !== undefined && thread.liveRun.runId !== run.runId
  if (isReplaced && thread.head === run.head) return []
  const checkRun = { kind: 'check_run', key: run.head, document: await putDocument(documents, endedCheckRun(run)) }
  if (isReplaced) return [checkRun]
  const noLabel: LabelResource = { kind: 'label', label: 'none' }
  return [checkRun, { kind: 'label', key: 'main', document: await putDocument(documents, noLabel) }]
}
