/** Runs: shown, cancelled, and asked for again. */

import { answer, type HttpAnswer } from '../../shared/base/http-answer.ts'
import { cancelRun } from '../../shared/coordinator/cancel.ts'
import { retryRun } from '../../shared/coordinator/start-run.ts'
import { getDocument } from '../../shared/documents/documents.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { conclusionSchema } from '../../shared/verdict/conclusion.ts'
import { unknownRun } from './core/answer.ts'
import { askedIdIn, callerOf, expectNothingIn, type HttpRequest, runIdIn } from './core/request.ts'
import { stateOf, viewOf } from './core/run-view.ts'
import type { ApiDeps } from './deps.ts'

/** 200 with the view. The conclusion is shown only if its plan key is the run's current plan key. Throws Refused `unknown_run`. */
export async function showRun({ ledger, documents }: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  const run = await readRun(ledger, runIdIn(request))
  if (!run) throw unknownRun()
  const reviews = run.planKey ? await readReviews(ledger, run.runId, run.planKey) : []
  const concluded = run.conclusion !== undefined && run.concludedPlanKey === run.planKey
  const conclusion =
    concluded && run.conclusion ? await getDocument(documents, run.conclusion, conclusionSchema) : undefined
  return answer(200, viewOf(run, reviews, conclusion))
}

/** 200 with the run after the cancellation: an ended run stays as it was. Throws Refused `unknown_run`, Retry `busy`. */
export async function cancel(deps: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  expectNothingIn(request)
  const run = await cancelRun(deps, runIdIn(request), callerOf(request))
  if (!run) throw unknownRun()
  return answer(200, stateOf(run))
}

/** 200 with the run and the effect of the request. Throws Refused `unknown_run`, Retry `busy`. */
export async function retry(deps: ApiDeps, request: HttpRequest): Promise<HttpAnswer> {
  expectNothingIn(request)
  const retried = await retryRun(deps, runIdIn(request), askedIdIn(request))
  if (!retried) throw unknownRun()
  return answer(200, { status: retried.kind, ...stateOf(retried.run) })
}
