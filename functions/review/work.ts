/** Reads one review under a lease, through its lens and its model. The result is stored before any item names its digest. */
import { aboutReview, type Log } from '../../shared/aws/log.ts'
import type { SecretReader } from '../../shared/aws/secrets.ts'
import { type ErrorCode, isFailure, Refused, Retry } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { CONFLICT_RETRY_MS, MODEL_CALL_MS, WORK_RESERVE_MS } from '../../shared/base/limits.ts'
import { type Documents, getDocument, getText, putDocument } from '../../shared/documents/documents.ts'
import { cachedResult, cacheResult } from '../../shared/documents/result-cache.ts'
import { LENSES, type LensName, type ModelCalls, type ModelChoice } from '../../shared/findings/lens.ts'
import type { ReviewOutcome } from '../../shared/fleet/lease.ts'
import { modelOfPool } from '../../shared/fleet/pools.ts'
import type { Ledger } from '../../shared/ledger/table.ts'
import type { Review } from '../../shared/runs/review.ts'
import { type ReviewResult, reviewResultSchema } from '../../shared/runs/review-result.ts'
import { type Plan, planSchema } from '../../shared/verdict/plan.ts'
import { blockingIn, failureOf, passedThrough, plannedReviewOf, resultOf } from './core/review-result.ts'
import { type KeptLease, keepLease } from './keep-lease.ts'
import { lensOf } from './lenses/index.ts'
import { whenProbeAdmitted } from './probe-admitted.ts'

/** The outcome of reading a review. */
export type ReadingOutcome = {
  /** The model's pool was opened to other reviews during the reading. */
  readonly isPoolOpen: boolean
} & (
  | {
      readonly kind: 'done'
      readonly outcome: ReviewOutcome
      /** The model has answered during the reading, and is not throttled. */
      readonly isAnswered: boolean
    }
  | {
      /** The review is not done: the model wants no call for `afterMs`. */
      readonly kind: 'throttled'
      readonly afterMs: number
    }
)

/** The lease of a reading, and the reading's limits. */
export interface WorkLease {
  readonly owner: string
  readonly planDigest: string
  readonly remainingMs: number
  /** Called as `whenProbeAdmitted` says; `assertHeld` throws once the lease is lost, and is called before each effect. */
  readonly admitOthers: (assertHeld: () => void) => Promise<boolean>
}

export interface WorkDeps {
  readonly ledger: Ledger
  readonly documents: Documents
  readonly modelsSecret: SecretReader
  readonly log: Log
  /** ms UTC */
  readonly now: () => number
}

/**
 * Throws StaleFence if the lease is lost, and Retry `busy` if an AWS service fails, which says nothing about the review. Any
 * further error, except of a throttled model, is the reason of a failed review, never "no findings". Ends before the function's
 * own deadline, whether the lens heeds its signal or not.
 */
export async function work(deps: WorkDeps, review: Review, lease: WorkLease): Promise<ReadingOutcome> {
  const { ledger, now, log } = deps
  const { owner } = lease
  const keptLease = keepLease(ledger, review, { epoch: review.epoch, owner, until: review.until ?? 0 }, now)
  const probeWatch = whenProbeAdmitted(() => lease.admitOthers(keptLease.assertHeld))
  const deadline = AbortSignal.timeout(Math.max(1, lease.remainingMs - WORK_RESERVE_MS))
  try {
    const cached = await readCachedResult(deps, review)
    const { digest, result } =
      cached ?? (await readAndStore(deps, review, lease.planDigest, { keptLease, deadline, probeWatch }))
    const isPoolOpen = await probeWatch.stop()
    keptLease.assertHeld()
    const counts = { findings: result.findings.length, blocking: blockingIn(result) }
    // A cached result says nothing about the model's state now.
    const isAnswered = cached === undefined && result.usage !== undefined
    return { kind: 'done', outcome: { state: 'completed', result: digest, ...counts }, isAnswered, isPoolOpen }
  } catch (error) {
    const isPoolOpen = await probeWatch.stop()
    keptLease.assertHeld()
    if (isServiceFailure(error))
      throw new Retry('busy', 'A document or a secret could not be read or stored.', CONFLICT_RETRY_MS, {
        cause: error,
      })
    const failure = deadline.aborted ? deadline.reason : error
    const reason = failureOf(failure)
    const about = { ...aboutReview(review), code: reason.code }
    if (isThrottle(failure) && modelOfPool(review.pool) !== undefined) {
      log.info('The model is throttled', about)
      return { kind: 'throttled', afterMs: failure.afterMs, isPoolOpen }
    }
    log.warn('The lens failed', about)
    const isAnswered = ANSWERED_CODES.includes(reason.code)
    return { kind: 'done', outcome: { state: 'failed', reason }, isAnswered, isPoolOpen }
  } finally {
    await keptLease.stop()
  }
}

/** Failures after an answer of the model: the model isn't throttled. */
const ANSWERED_CODES: readonly ErrorCode[] = [
  'model_refused',
  'model_quota_exhausted',
  'model_reply_cut',
  'model_reply_invalid',
]

function isThrottle(error: unknown): error is Retry {
  return isFailure(error, 'retry') && error.code === 'model_throttled'
}

interface StoredResult {
  readonly digest: string
  readonly result: ReviewResult
}

/** The result stored by an earlier worker before its death; the first epoch has no earlier worker. */
async function readCachedResult({ documents, log }: WorkDeps, review: Review): Promise<StoredResult | undefined> {
  if (review.epoch === 1) return undefined
  const digest = await cachedResult(documents, review)
  if (digest === undefined) return undefined
  try {
    const result = await getDocument(documents, digest, reviewResultSchema)
    log.info('Cached result read', aboutReview(review))
    return { digest, result }
  } catch (error) {
    if (isFailure(error, 'dead')) return undefined // the bucket lost the document: the lens reads again
    throw error
  }
}

/** Lets the lens read, and stores the result: first the content, then the name for a later worker. */
async function readAndStore(
  deps: WorkDeps,
  review: Review,
  planDigest: string,
  {
    keptLease,
    deadline,
    probeWatch,
  }: { readonly keptLease: KeptLease; readonly deadline: AbortSignal; readonly probeWatch: ModelCalls },
): Promise<StoredResult> {
  const { documents } = deps
  const plan = await getDocument(documents, planDigest, planSchema)
  const signal = AbortSignal.any([keptLease.signal, deadline])
  const result = await unlessAborted(signal, readThroughLens(deps, plan, review, { signal, probeWatch }))
  keptLease.assertHeld()
  const digest = await putDocument(documents, result)
  FAILPOINT: await failpoint('review.result_stored')
  keptLease.assertHeld()
  await cacheResult(documents, review, digest)
  return { digest, result }
}

/** Settles as `reading` does, or rejects with the signal's reason: a lens that hangs must not hang the function. */
async function unlessAborted<T>(signal: AbortSignal, reading: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([reading, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function readThroughLens(
  deps: WorkDeps,
  plan: Plan,
  review: Review,
  { signal, probeWatch }: { readonly signal: AbortSignal; readonly probeWatch: ModelCalls },
): Promise<ReviewResult> {
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
      const text = texts.get(path) ?? (await getText(deps.documents, digest))
      texts.set(path, text)
      return text
    },
    template: plan.template,
    openFindings: plan.openFindings,
    model: await modelOf(deps, plan, planned.lens, probeWatch),
    signal,
  })
  return resultOf(plan, planned, output, texts)
}

async function modelOf(
  deps: WorkDeps,
  plan: Plan,
  lens: LensName,
  calls: ModelCalls,
): Promise<ModelChoice | undefined> {
  if (!plan.model || LENSES[lens].kind !== 'model') return undefined
  const { text } = await deps.modelsSecret.read(deps.now())
  const apiKey = apiKeyIn(text)
  return { ...plan.model, ...(apiKey ? { apiKey } : {}), timeoutMs: MODEL_CALL_MS, calls }
}

/** The key in the secret's JSON; undefined for an endpoint without a key. Never quotes the secret. */
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

/** True for an error of an AWS service, and for its missing answer: no lens can throw either. */
function isServiceFailure(error: unknown): boolean {
  if (isFailure(error, 'retry')) return error.code === 'busy'
  return typeof error === 'object' && error !== null && '$metadata' in error
}
