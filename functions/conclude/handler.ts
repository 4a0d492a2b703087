/** Conclude: merge what was read into a verdict, write it in one transaction, and wait until GitHub shows everything. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { nudge, openQueue } from '../../shared/aws/queue.ts'
import { Dead } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONTRACT } from '../../shared/base/limits.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { finishIfShown } from '../../shared/coordinator/finish.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { getDocument, openDocuments, putDocument } from '../../shared/documents/documents.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun, updateRun } from '../../shared/ledger/run.ts'
import { contended, openLedger } from '../../shared/ledger/table.ts'
import { type ConclusionWrite, type MessageOwed, readThread, writeConclusion } from '../../shared/ledger/thread.ts'
import { concludeInput, inputOf } from '../../shared/runs/contract.ts'
import { reviewResultSchema } from '../../shared/runs/review-result.ts'
import type { Run } from '../../shared/runs/run.ts'
import { withToken } from '../../shared/runs/task-tokens.ts'
import type { Thread } from '../../shared/runs/thread.ts'
import { type Conclusion, conclusionSchema } from '../../shared/verdict/conclusion.ts'
import { isRestated, type Plan, planSchema } from '../../shared/verdict/plan.ts'
import { checkRunOf } from './core/check-run.ts'
import { conclude } from './core/conclude.ts'
import { labelOf } from './core/label.ts'
import { restatedVerdict } from './core/restated-verdict.ts'
import { reviewMessageOf } from './core/review-message.ts'
import { summaryOf } from './core/summary.ts'
import {
  announcedFindings,
  type NextReview,
  nextReview,
  restatedReview,
  supplementOf,
  unusedRound,
} from './next-review.ts'

const log = openLog('conclude')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))
const outbox = openQueue(environment('OUTBOX_URL'))
const coordinator: Coordinator = { ledger, executions: openExecutions(), now: Date.now, nonce: randomUUID }

/** Answers nothing to its caller: the task token is answered when everything is shown, or when the run has moved on. */
export async function handler(input: unknown): Promise<void> {
  const { runId, attempt, token } = inputOf(concludeInput, input)
  const outcome = await contended(() => concludeOnce(runId, attempt, token))
  log.info('Concluded', { runId, attempt, outcome })
  if (outcome !== 'owed') {
    await answerToken(coordinator.executions, token, { outcome })
    return
  }
  FAILPOINT: await failpoint('conclude.written')
  const run = await readRun(ledger, runId)
  if (run) {
    const { repository, number } = run
    await nudge(outbox, { contract: CONTRACT, repositoryId: repository.id, number, runId }, randomUUID())
  }
  FAILPOINT: await failpoint('conclude.nudged')
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
  const plan = await getDocument(documents, run.plan, planSchema)
  const { conclusion, ...owed } = isRestated(run, plan)
    ? await shownBefore(run, plan, thread)
    : await concluded(run, plan)
  const document = await putDocument(documents, conclusion)
  const resources = await resourcesOf(run, conclusion)
  FAILPOINT: await failpoint('conclude.documents_stored')
  const moved = await writeConclusion(ledger, {
    thread,
    run,
    verdict: conclusion.verdict,
    conclusion: document,
    planKey: plan.planKey,
    whole: isWhole(conclusion),
    round: conclusion.round,
    token,
    ...owed,
    resources,
    now: Date.now(),
  })
  if (moved === 'again') return 'again'
  if (moved === 'done') return 'owed'
  return (await holdForHalt(coordinator, run)) ? 'held' : 'again'
}

/** What is concluded; the review that is owed for it, or the one that was said and uses its round, if there is one. */
interface Concluded extends Pick<ConclusionWrite, 'message' | 'roundOf'> {
  readonly conclusion: Conclusion
}

/** The verdict that stands for this head, which an edited description may have brought up to date since. */
async function shownBefore(run: Run, plan: Plan, thread: Thread): Promise<Concluded> {
  const own = await conclusionOf(run.conclusion)
  const last = thread.lastConclusion
  const conclusion = last?.head === run.head ? await conclusionOf(last.digest) : own
  const owed = await restatedReview(ledger, run, plan, own)
  if (!owed) return { conclusion }
  // A review of another head may have said some of it meanwhile.
  const said = await announcedFindings(ledger, run, plan, coordinator.now())
  const again = restatedVerdict(conclusion, own, { announcedIn: owed.key, said })
  return { conclusion: again, message: await messageOf(owed, plan, again) }
}

async function conclusionOf(digest: string | undefined): Promise<Conclusion> {
  if (digest !== undefined) return getDocument(documents, digest, conclusionSchema)
  const remedy = 'Push, to have the head reviewed anew.'
  throw new Dead('document_missing', 'The verdict to be shown again is not known.', remedy)
}

async function concluded(run: Run, plan: Plan): Promise<Concluded> {
  const reviews = await readReviews(ledger, run.runId, plan.planKey)
  const seen = await Promise.all(
    reviews.map(async (review) => ({
      review,
      result:
        review.state === 'completed' && review.result
          ? await getDocument(documents, review.result, reviewResultSchema)
          : undefined,
    })),
  )
  const made = conclude(plan, seen, await announcedFindings(ledger, run, plan, coordinator.now()))
  const owed = await nextReview(ledger, run, plan, made)
  if (!owed) return { conclusion: made, roundOf: isWhole(made) ? await unusedRound(ledger, run, plan) : undefined }
  const conclusion = { ...made, announcedIn: owed.key }
  return { conclusion, message: await messageOf(owed, plan, conclusion) }
}

/** What was not read whole uses no round (RO2). */
async function messageOf(owed: NextReview, plan: Plan, conclusion: Conclusion): Promise<MessageOwed> {
  const review = reviewMessageOf(conclusion, { requestChanges: false, supplement: supplementOf(owed) })
  return {
    ...owed,
    document: await putDocument(documents, review),
    round: isWhole(conclusion) ? plan.round : 0,
  }
}

/** True if no lens failed. */
function isWhole({ lenses }: Conclusion): boolean {
  return lenses.every(({ state }) => state !== 'failed')
}

async function resourcesOf(run: Run, conclusion: Conclusion) {
  const checkRun = checkRunOf(conclusion)
  return [
    { kind: 'check_run', key: run.head, document: await putDocument(documents, checkRun) },
    { kind: 'summary', key: 'main', document: await putDocument(documents, summaryOf(conclusion)) },
    { kind: 'label', key: 'main', document: await putDocument(documents, labelOf(conclusion)) },
  ]
}
