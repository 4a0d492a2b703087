/**
 * The review room in tests over the real ledger: a run whose plan has reviews, and fresh containers for the reviews.
 */
import { expect, vi } from 'vitest'
import { CONTRACT } from '../../../shared/base/limits.ts'
import { putDocument } from '../../../shared/documents/documents.ts'
import { acceptRun, readRun, updateRun } from '../../../shared/ledger/run.ts'
import { type Review, reviewIdOf } from '../../../shared/runs/review.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'
import type { World } from '../../shared/ledger/world.ts'
import { requestOf, wantedReview } from '../../shared/samples.ts'

export type Handler = typeof import('../../../functions/review/handler.ts').handler

const PLAN: Partial<Plan> = {
  reviews: [{ lens: 'secrets', part: 0, paths: [] }],
  files: [],
  texts: {},
  openFindings: [],
}

/** The run of `wantedReview` is running, at the given attempt, by default with a plan of one review. */
export async function attemptRuns(world: World, attempt: number, changes: Partial<Plan> = {}): Promise<void> {
  const { ledger, now, ending } = world
  const plan = await putDocument(ending.documents, { ...PLAN, ...changes })
  const options = { deliveryId: `d${attempt}`, writer: 'w', now, signal: AbortSignal.timeout(8_000) }
  await acceptRun(ledger, requestOf(), options)
  const run = await readRun(ledger, requestOf().runId)
  if (!run) throw new Error('Expected the run to be stored, found none')
  const running = { state: 'running', attempt, plan, planKey: wantedReview(0).planKey } as const
  expect(await updateRun(ledger, run, running, { now })).toBeDefined()
}

/**
 * A fresh container of the room handles the granted review; `leftMs` are the answers to the remaining time, the last of
 * them for good.
 */
export async function work(world: World, review: Review, remainingMs: readonly number[] = [900_000]) {
  Object.assign(process.env, {
    TABLE_NAME: world.ledger.table,
    DOCUMENTS_BUCKET: 'documents',
    MODELS_SECRET_ID: 'models',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
  })
  vi.resetModules()
  const { handler } = (await import('../../../functions/review/handler.ts')) as { handler: Handler }
  const left = [...remainingMs]
  const { runId, attempt, epoch } = review
  return handler(
    { contract: CONTRACT, runId, attempt, review: reviewIdOf(review), epoch },
    {
      awsRequestId: `worker-${epoch}`,
      getRemainingTimeInMillis: () => (left.length > 1 ? left.shift() : left[0]) ?? 0,
    },
  )
}
