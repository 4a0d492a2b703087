/** Admits a review of a live run: the review waits with its task token, which is answered as soon as the state allows. */
import { answerToken } from '../../shared/aws/executions.ts'
import { aboutReview, type Log } from '../../shared/aws/log.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import type { Coordinator } from '../../shared/coordinator/coordinator.ts'
import { answerGrant, enqueue } from '../../shared/coordinator/grant-slots.ts'
import { takeBackEnded } from '../../shared/coordinator/take-back.ts'
import { isLost, type LostWorker } from '../../shared/fleet/lease.ts'
import { awaitGrant } from '../../shared/ledger/review.ts'
import { admissionOf } from './core/admission.ts'

export interface AdmitDeps extends Coordinator {
  readonly log: Log
}

/** `lost` is the worker of an earlier epoch whose crash the state machine has seen. */
export async function admitReview(
  deps: AdmitDeps,
  wanted: Parameters<typeof awaitGrant>[1],
  lost: LostWorker | undefined,
): Promise<void> {
  const { ledger, executions, log, nonce, now } = deps
  const review = await awaitGrant(ledger, wanted, { writer: nonce(), now: now() })
  FAILPOINT: await failpoint('admit.review_written')
  if (lost && isLost(review, lost) && (await takeBackEnded(deps, review, lost))) {
    log.info('Worker lost', { ...aboutReview(review), outcome: 'taken_back' })
    return
  }
  // Also after a refused take-back: another process was faster, and the admission depends on the state as read.
  const admission = admissionOf(review)
  log.info('Admission', { ...aboutReview(review), outcome: admission.kind })
  switch (admission.kind) {
    case 'answer':
      await answerToken(executions, wanted.token, { outcome: admission.outcome, epoch: 0 })
      return
    case 'granted':
      return answerGrant(deps, review)
    case 'enqueue':
      return enqueue(deps, review)
    case 'wait':
      // A live worker answers the token on completion. An ended lease is taken back at once (AW37).
      await takeBackEnded(deps, review)
  }
}
