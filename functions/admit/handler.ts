/** Admit: a review gets a ticket with its task token, and waits at no cost until the fleet has a place for it. */
import { randomUUID } from 'node:crypto'
import { environment, timings } from '../../shared/aws/environment.ts'
import { answerToken, openExecutions } from '../../shared/aws/executions.ts'
import { openLog } from '../../shared/aws/log.ts'
import { Refused } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { answerGrant, enqueue } from '../../shared/coordinator/grant-slots.ts'
import { takeBackEnded } from '../../shared/coordinator/take-back.ts'
import { isLost, type LostWorker } from '../../shared/fleet/lease.ts'
import { poolOf } from '../../shared/fleet/pools.ts'
import { turnOf } from '../../shared/fleet/schedule.ts'
import { awaitGrant, readReviews } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { admitInput, inputOf } from '../../shared/runs/contract.ts'
import { parseReviewId, type ReviewName } from '../../shared/runs/review.ts'
import type { Run } from '../../shared/runs/run.ts'
import { admissionOf, needsAdjudication, refusalOf } from './core/admission.ts'

const log = openLog('admit')
const ledger = openLedger(environment('TABLE_NAME'), timings())
const executions = openExecutions()
const coordinator: Coordinator = { ledger, executions, now: Date.now, nonce: randomUUID }

/** Answers nothing to its caller: the task token is answered, now or when the review gets its place. */
export async function handler(input: unknown): Promise<void> {
  const { runId, attempt, review: reviewId, token, lost } = inputOf(admitInput, input)
  const name = parseReviewId(reviewId)
  if (!name || name.runId !== runId) {
    throw new Refused('unknown_review', 'The review is not one of this run.', 'Start the run again.') // RC1
  }
  const run = await readRun(ledger, runId)
  const refusal = refusalOf(run, attempt)
  if (refusal || !run) return answer(token, refusal ?? 'ended')
  if (name.lens === 'adjudication' && !needsAdjudication(await readReviews(ledger, runId, name.planKey))) {
    return answer(token, 'not_needed')
  }
  await admit(run, name, { token, lost })
}

interface Waiting {
  readonly token: string
  readonly lost: LostWorker | undefined
}

async function admit(run: Run, name: ReviewName, { token, lost }: Waiting): Promise<void> {
  const review = await awaitGrant(
    ledger,
    {
      ...name,
      attempt: run.attempt,
      repository: run.repository,
      pool: poolOf(run, name.lens),
      turn: turnOf(run),
      token,
    },
    { writer: randomUUID(), now: Date.now() },
  )
  FAILPOINT: await failpoint('admit.review_written')
  const about = { runId: run.runId, reviewId: `${name.lens}/${name.part}` }
  if (lost && isLost(review, lost) && (await takeBackEnded(coordinator, review, lost))) {
    log.info('Worker lost', { ...about, outcome: 'taken_back' })
    return
  }
  // Also where the take-back was refused: then somebody was faster, and whoever holds the token next is told as ever.
  const admission = admissionOf(review)
  log.info('Admission', { ...about, outcome: admission.kind })
  switch (admission.kind) {
    case 'answer':
      return answer(token, admission.outcome)
    case 'granted':
      return answerGrant(coordinator, review)
    case 'enqueue':
      return enqueue(coordinator, review)
    case 'wait':
      // Its worker may be alive, and tells this token when it completes. A lease that has ended is not waited for (AW37).
      await takeBackEnded(coordinator, review)
  }
}

async function answer(token: string, outcome: string): Promise<void> {
  await answerToken(executions, token, { outcome, epoch: 0 })
}
