/** Reads one review under its lease: the plan's part, its lens, its model; what it said is stored before anything names it. */
import type { Log } from '../../shared/aws/log.ts'
import type { SecretReader } from '../../shared/aws/secrets.ts'
import { keepLease } from '../../shared/coordinator/keep-lease.ts'
import { type Documents, getDocument, getText, putDocument } from '../../shared/documents/documents.ts'
import { Refused, Retry, StaleFence } from '../../shared/errors.ts'
import type { completeReview } from '../../shared/ledger/review.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import { LENS_KINDS, type LensName, type ModelChoice } from '../../shared/lens.ts'
import { GITHUB_CALL_MS, MODEL_CALL_MS } from '../../shared/limits.ts'
import type { Plan } from '../../shared/plan.ts'
import type { ReviewResult } from '../../shared/result.ts'
import type { Review } from '../../shared/review.ts'
import { lensOf } from './lenses/index.ts'
import { blockingIn, failureOf, passedThrough, plannedReviewOf, resultOf } from './review.ts'

export interface WorkParts {
  readonly ledger: Ledger
  readonly documents: Documents
  readonly modelsSecret: SecretReader
  readonly log: Log
  /** ms UTC */
  readonly now: () => number
}

/** What a review comes to: a result that is stored, or a reason. */
export type Outcome = Parameters<typeof completeReview>[3]

/**
 * Throws StaleFence if the lease is lost, and Retry `busy` if one of our own services fails: that says nothing about the
 * review. Every other error is a reason on the review; it is never "no findings".
 */
export async function work(
  parts: WorkParts,
  review: Review,
  lease: { readonly owner: string; readonly planDigest: string; readonly remainingMs: number },
): Promise<Outcome> {
  const { ledger, documents, now, log } = parts
  const kept = keepLease(ledger, review, { epoch: review.epoch, owner: lease.owner, until: review.until ?? 0 }, now)
  // What is left of the function's time, less what storing and handing on may take.
  const deadline = AbortSignal.timeout(Math.max(1, lease.remainingMs - GITHUB_CALL_MS))
  try {
    const plan = await getDocument<Plan>(documents, lease.planDigest)
    const result = await readingOf(parts, plan, review, AbortSignal.any([kept.signal, deadline]))
    return {
      state: 'completed',
      result: await putDocument(documents, result),
      findings: result.findings.length,
      blocking: blockingIn(result),
    }
  } catch (error) {
    if (kept.signal.aborted) throw new StaleFence()
    if (isOfAws(error))
      throw new Retry('busy', 'A document or a secret could not be read or stored.', 1_000, { cause: error })
    const reason = failureOf(error)
    log.warn('The lens failed', { runId: review.runId, reviewId: `${review.lens}/${review.part}`, code: reason.code })
    return { state: 'failed', reason }
  } finally {
    await kept.stop()
  }
}

async function readingOf(parts: WorkParts, plan: Plan, review: Review, signal: AbortSignal): Promise<ReviewResult> {
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
      const text = texts.get(path) ?? (await getText(parts.documents, digest))
      texts.set(path, text)
      return text
    },
    template: plan.template,
    openFindings: plan.openFindings,
    model: await modelOf(parts, plan, planned.lens),
    signal,
  })
  return resultOf(plan, planned, output, texts)
}

async function modelOf(parts: WorkParts, plan: Plan, lens: LensName): Promise<ModelChoice | undefined> {
  if (!plan.model || LENS_KINDS[lens] !== 'model') return undefined
  const { text } = await parts.modelsSecret.read(parts.now())
  const apiKey = apiKeyIn(text)
  return { ...plan.model, ...(apiKey ? { apiKey } : {}), timeoutMs: MODEL_CALL_MS }
}

/** The key in the secret's JSON; undefined for an endpoint that needs none. Never quotes the secret. */
function apiKeyIn(secret: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(secret)
  } catch {
    // The parser's message quotes the text.
    throw new Refused(
      'secret_missing',
      'The secret of the models is not JSON.',
      'Put it as {"apiKey": "…"}; docs/configuration.md.',
    )
  }
  const { apiKey } = (value ?? {}) as { apiKey?: unknown }
  return typeof apiKey === 'string' && apiKey !== '' ? apiKey : undefined
}

/** True for what the AWS SDK throws: an answer of a service, or none. */
function isOfAws(error: unknown): boolean {
  return typeof error === 'object' && error !== null && '$metadata' in error
}
