/** Review: under a lease, one lens reads one part of the diff; what it said is stored, completed by fence, the place handed on. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { inputOf, type ReviewAnswer, reviewInput } from '../../shared/contract.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { endUnwanted } from '../../shared/coordinator/end-review.ts'
import { handOn, slotOf } from '../../shared/coordinator/hand-on.ts'
import { holdForHalt } from '../../shared/coordinator/hold.ts'
import { tellDone } from '../../shared/coordinator/tell-done.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { LeaseHeld, nameOf, Refused, Retry, StaleFence } from '../../shared/errors.ts'
import type { ReviewOutcome } from '../../shared/lease.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { completeReview, leaseReview } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { WORK_REMAINING_MIN_MS } from '../../shared/limits.ts'
import { reached } from '../../shared/points.ts'
import { parseReviewId, type Review } from '../../shared/review.ts'
import type { Run } from '../../shared/run.ts'
import { type WorkParts, work } from './work.ts'

const log = openLog('review')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const parts: WorkParts = {
  ledger,
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  modelsSecret: openSecret(environment('MODELS_SECRET_ID')),
  log,
  now: Date.now,
}
const coordinator: Coordinator = { ledger, executions: openExecutions(), now: Date.now, nonce: randomUUID }

interface Invocation {
  readonly awsRequestId: string
  getRemainingTimeInMillis(): number
}

/** Throws `stale_fence` if the review was replaced (the machine goes back to Admit), `lease_held` while another holds it. */
export async function handler(input: unknown, invocation: Invocation): Promise<ReviewAnswer> {
  const { runId, attempt, review: reviewId, epoch } = inputOf(reviewInput, input)
  const leftMs = invocation.getRemainingTimeInMillis()
  if (leftMs < WORK_REMAINING_MIN_MS) throw new Retry('deadline_too_near', `Only ${leftMs} ms are left.`, 1_000)
  const name = parseReviewId(reviewId)
  if (!name || name.runId !== runId) {
    throw new Refused('unknown_review', 'The review is not one of this run.', 'Start the run again.') // RC1
  }
  const owner = invocation.awsRequestId
  const leased = await leaseReview(ledger, name, { epoch, owner, now: Date.now() })
  if (leased.kind === 'held') throw new LeaseHeld()
  if (leased.kind === 'stale') throw new StaleFence()

  POINT: await reached('review.leased')
  const { review } = leased
  const run = await readRun(ledger, runId)
  if (!run?.plan || run.attempt !== attempt || run.state !== 'running') return end(review, 'ended')
  if (await standingHalt(ledger, run.repository)) return hold(run, review)
  const remainingMs = invocation.getRemainingTimeInMillis()
  const outcome = await work(parts, review, { owner, planDigest: run.plan, remainingMs })
  POINT: await reached('review.read')
  // What was made stays stored and is not made again; under a halt nothing takes effect (RC4).
  if (await standingHalt(ledger, run.repository)) return hold(run, review)
  return complete(review, owner, outcome)
}

/** The whole run waits, so that none of it is concluded without what this halt kept from being read. */
async function hold(run: Run, review: Review): Promise<ReviewAnswer> {
  await holdForHalt(coordinator, run)
  POINT: await reached('review.run_held')
  return end(review, 'held')
}

/** Nobody wants the review any more, or not now: it ends, and its place is handed on. */
async function end(review: Review, outcome: 'ended' | 'held'): Promise<ReviewAnswer> {
  await endUnwanted(coordinator, review, outcome)
  POINT: await reached('review.ended')
  await giveUpPlace(review)
  return { outcome, findings: 0, blocking: 0 }
}

async function complete(review: Review, owner: string, outcome: ReviewOutcome): Promise<ReviewAnswer> {
  const { runId, lens, part, epoch } = review
  const { kind, token } = await completeReview(ledger, review, { epoch, owner }, outcome)
  if (kind === 'stale') throw new StaleFence() // RC5
  POINT: await reached('review.completed')
  if (kind === 'outcome_conflict') log.error('Another outcome stands already', { runId, code: kind })
  if (token !== undefined) await tellDone(coordinator, { ...review, state: outcome.state, token })
  POINT: await reached('review.told')
  await giveUpPlace(review)
  const counts = countsOf(outcome)
  log.info('Review done', { runId, reviewId: `${lens}/${part}`, outcome: outcome.state, count: counts.findings })
  return { outcome: outcome.state, ...counts }
}

/** The result stands whatever happens here: a place that isn't given up is void, and the sweeper hands it on (RC6). */
async function giveUpPlace(review: Review): Promise<void> {
  try {
    await handOn(coordinator, [slotOf(review)])
  } catch (error) {
    log.warn('The place was not handed on; the sweeper will', { runId: review.runId, error: nameOf(error) })
  }
}

function countsOf(outcome: ReviewOutcome): { findings: number; blocking: number } {
  return outcome.state === 'completed'
    ? { findings: outcome.findings, blocking: outcome.blocking }
    : { findings: 0, blocking: 0 }
}
