/** GET /runs/{runId}: a run as it is now, for programs. Callers are authorised by IAM before this is reached. */
import { environment, timings } from '../../shared/aws/environment.ts'
import type { Conclusion } from '../../shared/conclusion.ts'
import { getDocument, openDocuments } from '../../shared/documents/documents.ts'
import { readReviews } from '../../shared/ledger/review.ts'
import { readRun } from '../../shared/ledger/run.ts'
import { openLedger } from '../../shared/ledger/table.ts'
import { runIdIn, viewOf } from './api.ts'

const ledger = openLedger(environment('TABLE_NAME'), timings())
const documents = openDocuments(environment('DOCUMENTS_BUCKET'))

interface HttpRequest {
  readonly pathParameters?: Readonly<Record<string, string | undefined>>
}

/** 200 with the view, 404 `unknown_run`. A verdict is told only when it is the one of the run's own plan. */
export async function handler(request: HttpRequest): Promise<{ statusCode: number; headers: object; body: string }> {
  const runId = runIdIn(request.pathParameters)
  const run = runId === undefined ? undefined : await readRun(ledger, runId)
  if (!run) {
    return answer(404, {
      error: {
        code: 'unknown_run',
        message: 'There is no such run.',
        remedy: 'Use the id that the webhook was answered with.',
      },
    })
  }
  const reviews = run.planKey ? await readReviews(ledger, run.runId, run.planKey) : []
  const concluded = run.conclusion !== undefined && run.concludedPlanKey === run.planKey
  const conclusion = concluded && run.conclusion ? await getDocument<Conclusion>(documents, run.conclusion) : undefined
  return answer(200, viewOf(run, reviews, conclusion))
}

function answer(statusCode: number, content: object) {
  return { statusCode, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) }
}
