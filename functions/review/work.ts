/** Reads one review under its lease: the plan's part, its lens, its model; what it said is stored before anything names it. */
import type { Log } from '../../shared/aws/log.ts'
import type { SecretReader } from '../../shared/aws/secrets.ts'
import { type ErrorCode, isFailure, Refused, Retry } from '../../shared/base/errors.ts'
import { failpoint } from '../../shared/base/failpoints.ts'
import { MODEL_CALL_MS, WORK_RESERVE_MS } from '../../shared/base/limits.ts'
import { type Documents, getDocument, getText, putDocument } from '../../shared/documents/documents.ts'
import { cachedResult, cacheResult } from '../../shared/documents/result-cache.ts'
import { LENS_KINDS, type LensName, type ModelCalls, type ModelChoice } from '../../shared/findings/lens.ts'
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

/** What reading a review came to. */
export type Reading = {
  /** Its model's pool is open to others, which was seen to while it was read. */
  readonly isOpen: boolean
} & (
  | {
      readonly kind: 'done'
      readonly outcome: ReviewOutcome
      /** Its model has answered, and so is not throttled. */
      readonly isAnswered: boolean
    }
  | {
      /** The review is not done: the model asks to be left alone for so long, ms. */
      readonly kind: 'throttled'
      readonly afterMs: number
    }
)

/** What a review is read under. */
export interface WorkLease {
  readonly owner: string
  readonly planDigest: string
  readonly remainingMs: number
  /** As `whenLetIn` asks for it; `assertHeld` throws once the lease is lost, and is to be asked before each effect. */
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
 * Throws StaleFence if the lease is lost, and Retry `busy` if one of our own services fails: that says nothing about the
 * review, as a throttled model says nothing. Every other error is a reason on the review; it is never "no findings". Ends
 * before the function's own deadline, whether the lens heeds its signal or not.
 */
export async function work(deps: WorkDeps, review: Review, lease: WorkLease): Promise<Reading> {
  const { ledger, now, log } = deps
  const { owner } = lease
  const kept = keepLease(ledger, review, { epoch: review.epoch, owner, until: review.until ?? 0 }, now)
  const probeWatch = whenProbeAdmitted(() => lease.admitOthers(kept.assertHeld))
  const deadline = AbortSignal.timeout(Math.max(1, lease.remainingMs - WORK_RESERVE_MS))
  try {
    const before = await madeBefore(deps, review)
    const { digest, result } = before ?? (await made(deps, review, lease.planDigest, { kept, deadline, probeWatch }))
    const isOpen = await probeWatch.stop()
    kept.assertHeld()
    const counts = { findings: result.findings.length, blocking: blockingIn(result) }
    // What was made before says nothing about how the model is now.
    const isAnswered = before === undefined && result.usage !== undefined
    return { kind: 'done', outcome: { state: 'completed', result: digest, ...counts }, isAnswered, isOpen }
  } catch (error) {
    const isOpen = await probeWatch.stop()
    kept.assertHeld()
    if (isOfOurServices(error))
      throw new Retry('busy', 'A document or a secret could not be read or stored.', 1_000, { cause: error })
    const met = deadline.aborted ? deadline.reason : error
    const reason = failureOf(met)
    const about = { runId: review.runId, reviewId: `${review.lens}/${review.part}`, code: reason.code }
    if (isThrottle(met) && modelOfPool(review.pool) !== undefined) {
      log.info('The model is throttled', about)
      return { kind: 'throttled', afterMs: met.afterMs, isOpen }
    }
    log.warn('The lens failed', about)
    return { kind: 'done', outcome: { state: 'failed', reason }, isAnswered: ANSWERS.includes(reason.code), isOpen }
  } finally {
    await kept.stop()
  }
}

/** Failures that a model's own answer has brought about: it isn't throttled. */
const ANSWERS: readonly ErrorCode[] = [
  'model_refused',
  'model_quota_exhausted',
  'model_reply_cut',
  'model_reply_invalid',
]

function isThrottle(error: unknown): error is Retry {
  return isFailure(error, 'retry') && error.code === 'model_throttled'
}

interface Made {
  readonly digest: string
  readonly result: ReviewResult
}

/** The result that an earlier worker stored and did not live to report. Nobody can have been before the first epoch. */
async function madeBefore({ documents, log }: WorkDeps, review: Review): Promise<Made | undefined> {
  if (review.epoch === 1) return undefined
  const digest = await cachedResult(documents, review)
  if (digest === undefined) return undefined
  try {
    const result = await getDocument(documents, digest, reviewResultSchema)
    log.info('Made before', { runId: review.runId, reviewId: `${review.lens}/${review.part}` })
    return { digest, result }
  } catch (error) {
    if (isFailure(error, 'dead')) return undefined // the bucket lost it: it is made again
    throw error
  }
}

/** Lets the lens read, and stores what it said: first the content, then by which name it is found. */
async function made(
  deps: WorkDeps,
  review: Review,
  planDigest: string,
  {
    kept,
    deadline,
    probeWatch,
  }: { readonly kept: KeptLease; readonly deadline: AbortSignal; readonly probeWatch: ModelCalls },
): Promise<Made> {
  const { documents } = deps
  const plan = await getDocument(documents, planDigest, planSchema)
  const signal = AbortSignal.any([kept.signal, deadline])
  const result = await unlessAborted(signal, readingOf(deps, plan, review, { signal, probeWatch }))
  kept.assertHeld()
  const digest = await putDocument(documents, result)
  FAILPOINT: await failpoint('review.result_stored')
  kept.assertHeld()
  await cacheResult(documents, review, digest)
  return { digest, result }
}

/** Settles as `reading` does, or rejects with the signal's reason: a lens that hangs must not take the function with it. */
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

async function readingOf(
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
  if (!plan.model || LENS_KINDS[lens] !== 'model') return undefined
  const { text } = await deps.modelsSecret.read(deps.now())
  const apiKey = apiKeyIn(text)
  return { ...plan.model, ...(apiKey ? { apiKey } : {}), timeoutMs: MODEL_CALL_MS, calls }
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

/** True for an answer of an AWS service, or for none: a lens has no way to throw either. */
function isOfOurServices(error: unknown): boolean {
  if (isFailure(error, 'retry')) return error.code === 'busy'
  return typeof error === 'object' && error !== null && '$metadata' in error
}
