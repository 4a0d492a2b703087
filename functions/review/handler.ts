/** Review: under a lease, one lens reads one part of the diff. The result is stored and completed by fence, the slot handed on. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { openSecret } from '../../shared/aws/secrets.ts'
import { LeaseHeld, Retry, StaleFence } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONFLICT_RETRY_MS, WORK_REMAINING_MIN_MS } from '../../shared/base/limits.ts'
import { openDocuments } from '../../shared/documents/documents.ts'
import { standingHalt } from '../../shared/ledger/halt.ts'
import { leaseReview } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { inputOf, type ReviewAnswer, reviewInput, reviewNameIn } from '../../shared/runs/contract.ts'
import { admitOthers, type EndDeps, end, finish, hold, park } from './end-work.ts'
import { type WorkDeps, work } from './work.ts'

const ledger = openLedger(environment('TABLE_NAME'), timings())
const deps: WorkDeps & EndDeps = {
  ledger,
  executions: openExecutions(),
  documents: openDocuments(environment('DOCUMENTS_BUCKET')),
  modelsSecret: openSecret(environment('MODELS_SECRET_ID')),
  log: openLog('review'),
  now: Date.now,
  nonce: randomUUID,
  random: Math.random,
}

interface Invocation {
  readonly awsRequestId: string
  getRemainingTimeInMillis(): number
}

/** Throws `stale_fence` to a replaced worker (the machine goes back to Admit), `lease_held` while another worker holds it. */
export async function handler(input: unknown, invocation: Invocation): Promise<ReviewAnswer> {
  const { runId, attempt, review: reviewId, epoch } = inputOf(reviewInput, input)
  const leftMs = invocation.getRemainingTimeInMillis()
  if (leftMs < WORK_REMAINING_MIN_MS)
    throw new Retry('deadline_too_near', `Only ${leftMs} ms are left.`, CONFLICT_RETRY_MS)
  const name = reviewNameIn({ runId, review: reviewId })
  const owner = invocation.awsRequestId
  const leased = await leaseReview(ledger, name, { epoch, owner, now: Date.now() })
  if (leased.kind === 'held') throw new LeaseHeld()
  if (leased.kind === 'stale') throw new StaleFence()

  FAILPOINT: await failpoint('review.leased')
  const { review } = leased
  const run = await readRun(ledger, runId)
  if (!run?.plan || run.attempt !== attempt || run.state !== 'running') return end(deps, review, 'ended')
  const held = { run, review, owner }
  if (await standingHalt(ledger, run.repository)) return hold(deps, held)
  const remainingMs = invocation.getRemainingTimeInMillis()
  const reading = await work(deps, review, {
    owner,
    planDigest: run.plan,
    remainingMs,
    admitOthers: (assertHeld) => admitOthers(deps, held, assertHeld),
  })
  FAILPOINT: await failpoint('review.read')
  // Under a halt nothing takes effect; the result stays stored and is found by the next attempt (RC4).
  if (await standingHalt(ledger, run.repository)) return hold(deps, held)
  return reading.kind === 'done' ? finish(deps, held, reading) : park(deps, held, reading)
}
