/** Conclude: merge what was read into a verdict, write it in one transaction, and wait until GitHub shows everything. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { nudge, openQueue } from '../../shared/aws/queue.ts'
import type { Conclusion } from '../../shared/conclusion.ts'
import { concludeInput, inputOf } from '../../shared/contract.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { getDocument, openDocuments, putDocument } from '../../shared/documents/documents.ts'
import { Dead, Retry } from '../../shared/errors.ts'
import { type MessageState, readMessage } from '../../shared/ledger/message.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun, updateRun } from '../../shared/ledger/run.ts'
import { contended, openLedger } from '../../shared/ledger/table.ts'
import { type MessageOwed, readThread, writeConclusion } from '../../shared/ledger/thread.ts'
import { CONTRACT } from '../../shared/limits.ts'
import { isShownAgain, type Plan } from '../../shared/plan.ts'
import { reached } from '../../shared/points.ts'
import type { ReviewResult } from '../../shared/result.ts'
import type { Run } from '../../shared/run.ts'
import { withToken } from '../../shared/task-token.ts'
import type { Thread } from '../../shared/thread.ts'
import { checkRunOf } from './check-run.ts'
import { conclude } from './conclude.ts'
import { labelOf } from './label.ts'
import { reviewMessageOf, unsaid } from './review-message.ts'
import { summaryOf } from './summary.ts'

const log = openLog('conclude')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))
const outbox = openQueue(environment('OUTBOX_URL'))
const coordinator: Coordinator = { ledger, executions: openExecutions(), now: Date.now, nonce: randomUUID }

/** The key of the one review that a run says. */
const REVIEW_KEY = 'review'

/** Answers nothing to its caller: the task token is answered when everything is shown, or when the run has moved on. */
export async function handler(input: unknown): Promise<void> {
  const { runId, attempt, token } = inputOf(concludeInput, input)
  const outcome = await contended(() => concludeOnce(runId, attempt, token))
  log.info('Concluded', { runId, attempt, outcome })
  if (outcome !== 'owed') {
    await answerToken(coordinator.executions, token, { outcome })
    return
  }
  POINT: await reached('conclude.written')
  const run = await readRun(ledger, runId)
  if (run) {
    const { repository, number } = run
    await nudge(outbox, { contract: CONTRACT, repositoryId: repository.id, number, runId }, randomUUID())
  }
  POINT: await reached('conclude.nudged')
  // Everything may be shown already, by a post that came between the transaction and this token (IL10).
  await finishIfShown(coordinator, runId)
}

type Outcome = 'owed' | 'superseded' | 'held' | 'shown' | 'failed'

async function concludeOnce(runId: string, attempt: number, token: string): Promise<Outcome | 'again'> {
  const run = await readRun(ledger, runId)
  if (!run || run.attempt !== attempt || run.state === 'ending') return 'superseded'
  if (run.state === 'held') return 'held'
  if (run.state === 'ended') return run.outcome === 'reviewed' ? 'shown' : 'superseded'
  if (run.state === 'concluded') {
    // Called again: this token is answered too when all is shown.
    const tokens = withToken(run.token, token)
    return (await updateRun(ledger, run, { token: tokens }, { now: Date.now() })) ? 'owed' : 'again'
  }
  const thread = await readThread(ledger, run.repository.id, run.number)
  if (thread?.liveRun?.runId !== runId || thread.liveRun.attempt !== attempt) return 'superseded'
  if (!run.plan) throw new Dead('plan_missing', 'The run has no plan.', 'Comment /muster retry on the pull request.')
  const plan = await getDocument<Plan>(documents, run.plan)
  const conclusion = isShownAgain(run, plan) ? await shownBefore(run, thread) : await concluded(run, plan)
  const document = await putDocument(documents, conclusion)
  const message = await messageOwed(run, plan, conclusion)
  const resources = await resourcesOf(run, conclusion)
  POINT: await reached('conclude.documents_stored')
  const moved = await writeConclusion(ledger, {
    thread,
    run,
    verdict: conclusion.verdict,
    conclusion: document,
    planKey: plan.planKey,
    whole: isWhole(conclusion),
    round: conclusion.round,
    token,
    message,
    resources,
    now: Date.now(),
  })
  if (moved === 'again') return 'again'
  if (moved === 'done') return 'owed'
  return (await holdForHalt(coordinator, run)) ? 'held' : 'again'
}

/** The verdict that stands for this head, which an edited description may have brought up to date since. */
async function shownBefore(run: Run, thread: Thread): Promise<Conclusion> {
  const digest = thread.lastConclusion?.head === run.head ? thread.lastConclusion.digest : run.conclusion
  if (!digest)
    throw new Dead(
      'document_missing',
      'The verdict to be shown again is not known.',
      'Push, to have the head reviewed anew.',
    )
  return getDocument<Conclusion>(documents, digest)
}

async function concluded(run: Run, plan: Plan): Promise<Conclusion> {
  const reviews = await readReviews(ledger, run.runId, plan.planKey)
  const seen = await Promise.all(
    reviews.map(async (review) => ({
      review,
      result:
        review.state === 'completed' && review.result
          ? await getDocument<ReviewResult>(documents, review.result)
          : undefined,
    })),
  )
  return conclude(plan, seen)
}

/**
 * The review that is owed: none for a run of analyzers, none where it was said already under this plan key. Where a lens
 * had failed and was asked again, a second one says what the first didn't. What was not read whole uses no round (RO2).
 */
async function messageOwed(run: Run, plan: Plan, conclusion: Conclusion): Promise<MessageOwed | undefined> {
  if (plan.kind !== 'full') return undefined
  const first = await messageState(run, plan, REVIEW_KEY)
  if (first !== 'said') {
    const document = await putDocument(documents, reviewMessageOf(conclusion, { requestChanges: false }))
    return { key: REVIEW_KEY, document, round: isWhole(conclusion) ? plan.round : 0, before: first }
  }
  if (isShownAgain(run, plan) || unsaid(conclusion).length === 0) return undefined
  const key = `${REVIEW_KEY}-a${run.attempt}`
  const options = { requestChanges: false, supplement: run.attempt }
  const document = await putDocument(documents, reviewMessageOf(conclusion, options))
  return { key, document, round: isWhole(conclusion) ? plan.round : 0, before: await messageState(run, plan, key) }
}

/** True if no lens failed. */
function isWhole({ lenses }: Conclusion): boolean {
  return lenses.every(({ state }) => state !== 'failed')
}

/** The state of a message of this run; throws Retry while an earlier attempt's is still being withdrawn. */
async function messageState(run: Run, plan: Plan, key: string): Promise<MessageState | undefined> {
  const { repository, number, runId } = run
  const name = { repositoryId: repository.id, number, runId, planKey: plan.planKey, key }
  const message = await readMessage(ledger, name)
  if (message?.state === 'withdrawing') {
    throw new Retry('claim_contended', 'An earlier review is being withdrawn.', 5_000)
  }
  return message?.state
}

async function resourcesOf(run: Run, conclusion: Conclusion) {
  const checkRun = checkRunOf(conclusion)
  return [
    { kind: 'check_run', key: run.head, document: await putDocument(documents, checkRun) },
    { kind: 'summary', key: 'main', document: await putDocument(documents, summaryOf(conclusion)) },
    { kind: 'label', key: 'main', document: await putDocument(documents, labelOf(conclusion)) },
  ]
}
