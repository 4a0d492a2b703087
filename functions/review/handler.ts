/** Review: under a lease, one lens reads one part of the diff; what it said is stored, completed by fence, the place handed on. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { inputOf, type ReviewAnswer, reviewInput } from '../../shared/contract.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { endUnwanted } from '../../shared/coordinator/end-review.ts'
import { handOn, slotOf } from '../../shared/coordinator/hand-on.ts'
import { keepLease } from '../../shared/coordinator/keep-lease.ts'
import { getDocument, getText, openDocuments, putDocument } from '../../shared/documents/documents.ts'
import { isFailure, LeaseHeld, nameOf, Refused, Retry, StaleFence } from '../../shared/errors.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { type Completed, completeReview, dropToken, leaseReview } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { LENS_KINDS, type LensName, type ModelChoice } from '../../shared/lens.ts'
import { GITHUB_CALL_MS, MODEL_CALL_MS, WORK_REMAINING_MIN_MS } from '../../shared/limits.ts'
import type { Plan } from '../../shared/plan.ts'
import type { ReviewResult } from '../../shared/result.ts'
import { parseReviewId, type Review } from '../../shared/review.ts'
import { lensOf } from './lenses/index.ts'
import { blockingIn, failureOf, passedThrough, plannedReviewOf, resultOf } from './review.ts'

const log = openLog('review')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))
const modelsSecret = openSecret(environment('MODELS_SECRET_ID'))
const coordinator: Coordinator = { ledger, executions: openExecutions(), now: Date.now, nonce: randomUUID }

interface Invocation {
  readonly awsRequestId: string
  getRemainingTimeInMillis(): number
}

/** Throws `stale_fence` if the review was replaced (the machine goes back to Admit), `lease_held` while another holds it. */
export async function handler(input: unknown, invocation: Invocation): Promise<ReviewAnswer> {
  const { runId, attempt, review: reviewId, epoch } = inputOf(reviewInput, input)
  const remainingMs = invocation.getRemainingTimeInMillis()
  if (remainingMs < WORK_REMAINING_MIN_MS)
    throw new Retry('deadline_too_near', `Only ${remainingMs} ms are left.`, 1_000)
  const name = parseReviewId(reviewId)
  if (!name || name.runId !== runId) {
    throw new Refused('unknown_review', 'The review is not one of this run.', 'Start the run again.') // RC1
  }
  const owner = invocation.awsRequestId
  const leased = await leaseReview(ledger, name, { epoch, owner, now: Date.now() })
  if (leased.kind === 'held') throw new LeaseHeld()
  if (leased.kind === 'stale') throw new StaleFence()

  const { review } = leased
  const run = await readRun(ledger, runId)
  const halt = run && (await standingHalt(ledger, run.repository))
  if (!run?.plan || run.attempt !== attempt || run.state !== 'running' || halt) {
    await endUnwanted(coordinator, review, halt ? 'held' : 'ended')
    await giveUpPlace(review)
    return { outcome: halt ? 'held' : 'ended', findings: 0, blocking: 0 }
  }
  const outcome = await work(review, owner, run.plan, invocation)
  const completed = await complete(review, owner, outcome)
  if (completed.token !== undefined) {
    await answerToken(coordinator.executions, completed.token, { outcome: outcome.state, epoch })
    await dropToken(ledger, review, completed.token)
  }
  await giveUpPlace(review)
  log.info('Review done', {
    runId,
    reviewId: `${name.lens}/${name.part}`,
    outcome: outcome.state,
    count: countOf(outcome).findings,
  })
  return { outcome: outcome.state, ...countOf(outcome) }
}

type Outcome = Parameters<typeof completeReview>[3]

/** Reads, under the lease. Throws StaleFence if the lease is lost; every other error is a reason on the review. */
async function work(review: Review, owner: string, planDigest: string, invocation: Invocation): Promise<Outcome> {
  const kept = keepLease(ledger, review, { epoch: review.epoch, owner, until: review.until ?? 0 }, Date.now)
  // What is left of the function's time, less what storing and handing on may take.
  const deadline = AbortSignal.timeout(Math.max(1, invocation.getRemainingTimeInMillis() - GITHUB_CALL_MS))
  try {
    const plan = await getDocument<Plan>(documents, planDigest)
    const result = await readingOf(plan, review, AbortSignal.any([kept.signal, deadline]))
    return {
      state: 'completed',
      result: await putDocument(documents, result),
      findings: result.findings.length,
      blocking: blockingIn(result),
    }
  } catch (error) {
    if (kept.signal.aborted || isFailure(error, 'stale_fence')) throw new StaleFence()
    const reason = failureOf(error)
    log.warn('The lens failed', { runId: review.runId, reviewId: `${review.lens}/${review.part}`, code: reason.code })
    return { state: 'failed', reason }
  } finally {
    await kept.stop()
  }
}

async function readingOf(plan: Plan, review: Review, signal: AbortSignal): Promise<ReviewResult> {
  if (review.lens === 'adjudication') return passedThrough(review.part)
  const planned = plannedReviewOf(plan, review)
  if (!planned) throw new Refused('plan_missing', 'The plan has no review of this name.', 'Start the run again.')
  const paths = new Set(planned.paths)
  const files = plan.files.filter(({ path }) => paths.has(path))
  const texts = new Map<string, string>()
  const lens = await lensOf(planned.lens)
  const output = await lens({
    pullRequest: plan.pullRequest,
    files,
    async text(path) {
      const digest = plan.texts[path]
      if (digest === undefined) return undefined
      const text = texts.get(path) ?? (await getText(documents, digest))
      texts.set(path, text)
      return text
    },
    template: plan.template,
    openFindings: plan.openFindings,
    model: await modelOf(plan, planned.lens),
    signal,
  })
  return resultOf(plan, planned, output, texts)
}

async function modelOf(plan: Plan, lens: LensName): Promise<ModelChoice | undefined> {
  if (!plan.model || LENS_KINDS[lens] !== 'model') return undefined
  const { text } = await modelsSecret.read(Date.now())
  const { apiKey } = JSON.parse(text) as { apiKey?: string }
  return { ...plan.model, ...(apiKey ? { apiKey } : {}), timeoutMs: MODEL_CALL_MS }
}

async function complete(review: Review, owner: string, outcome: Outcome): Promise<Completed> {
  const completed = await completeReview(ledger, review, { epoch: review.epoch, owner }, outcome)
  if (completed.kind === 'stale') throw new StaleFence() // RC5
  if (completed.kind === 'outcome_conflict')
    log.error('Another outcome stands already', { runId: review.runId, code: 'outcome_conflict' })
  return completed
}

/** The result stands whatever happens here: a place that isn't given up is void, and the sweeper hands it on (RC6). */
async function giveUpPlace(review: Review): Promise<void> {
  try {
    await handOn(coordinator, [slotOf(review)])
  } catch (error) {
    log.warn('The place was not handed on; the sweeper will', { runId: review.runId, error: nameOf(error) })
  }
}

function countOf(outcome: Outcome): { findings: number; blocking: number } {
  return outcome.state === 'completed'
    ? { findings: outcome.findings, blocking: outcome.blocking }
    : { findings: 0, blocking: 0 }
}
