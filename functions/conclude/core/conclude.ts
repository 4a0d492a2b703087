/** Makes the conclusion of a run from its plan and its reviews. Pure: the same inputs give the same conclusion. */
import type { ErrorCode } from '../../../shared/base/errors.ts'
import { isMissing } from '../../../shared/findings/coverage.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import type { LensName } from '../../../shared/findings/lens.ts'
import { worstOfEach } from '../../../shared/findings/order.ts'
import { SEVERITIES } from '../../../shared/findings/severity.ts'
import type { Review } from '../../../shared/runs/review.ts'
import type { ReviewResult } from '../../../shared/runs/review-result.ts'
import type { Reason } from '../../../shared/runs/run.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'
import { notLookedAt, reconcileFindings } from '../../../shared/verdict/reconciliation.ts'
import { verdictOf } from '../../../shared/verdict/verdict.ts'

/** A review of the run, with its result if the review has completed. */
export interface ReviewWithResult {
  readonly review: Pick<Review, 'lens' | 'part' | 'state' | 'reason'>
  readonly result: ReviewResult | undefined
}

/**
 * Findings in = standing + merged + rejected; an unread file is never "nothing found". `announced` are fingerprints of
 * open findings that a review on GitHub has announced.
 */
export function conclude(plan: Plan, reviews: readonly ReviewWithResult[], announced: readonly string[]): Conclusion {
  const { runId, planKey, head, kind, kindReason, lastFullHead, round, files, filesCut, pullRequest } = plan
  const results = reviews.flatMap(({ review, result }) => (result && review.lens !== 'adjudication' ? [result] : []))
  const claimed = [...results.flatMap(({ findings }) => findings), ...plan.carried]
  const found = [...worstOfEach(claimed).values()]
  const rejected = results.flatMap((result) => result.rejected)
  const lenses = lensesOf(plan, reviews)
  const { dispositions, standing, announcedBefore } = reconcileFindings({
    open: plan.openFindings,
    announced,
    sameHead: openFingerprintsAtHead(plan),
    found,
    rejected,
    lenses,
    files,
    filesCut,
  })
  const judgement = verdictOf({
    lenses,
    planned: plan.reviews,
    standing,
    diff: filesCut ? 'too_large' : files.length === 0 ? 'empty' : 'readable',
  })
  const reasons = planReasons(plan)
  const { owner, name, id } = plan.repository
  return {
    runId,
    planKey,
    repository: { id, owner, name },
    number: pullRequest.number,
    head,
    baseRef: pullRequest.baseRef,
    kind,
    ...(kindReason ? { kindReason } : {}),
    ...(lastFullHead ? { lastFullHead } : {}),
    round,
    roundsCeiling: plan.configuration.rounds.ceiling,
    verdict: reasons.length > 0 ? 'incomplete' : judgement.verdict,
    incompleteReasons: [...reasons, ...judgement.incompleteReasons],
    findings: standing,
    announcedBefore,
    dispositions: [
      ...plan.carriedDispositions.filter(
        ({ finding }) => !dispositions.some((answer) => answer.finding.fingerprint === finding.fingerprint),
      ),
      // A finding that was first found at this head needs no disposition yet.
      ...dispositions.filter(({ finding, verb }) => verb !== 'still_present' || finding.originHead !== head),
    ],
    rejected,
    merged: claimed.length - found.length,
    lenses,
    leftOut: plan.leftOut,
    configurationProblems: plan.configurationProblems,
    adjudication: adjudicationOf(plan, found, standing, reviews),
  }
}

/** True if no lens has failed. */
export function isWhole({ lenses }: Conclusion): boolean {
  return lenses.every(({ state }) => state !== 'failed')
}

/** Fingerprints of the open findings that the last verdict saw at this head. */
function openFingerprintsAtHead({ openFindings, openAtHead, head, carriedDispositions }: Plan): string[] {
  if (openAtHead !== head) return []
  const unseen = notLookedAt({ dispositions: carriedDispositions })
  return openFindings.map(({ fingerprint }) => fingerprint).filter((fingerprint) => !unseen.has(fingerprint))
}

/** One outcome for each active lens, over all its parts. */
function lensesOf(plan: Plan, reviews: readonly ReviewWithResult[]): LensOutcome[] {
  const placed = [...new Set(plan.reviews.map(({ lens }) => lens))]
  return [
    ...placed.map((lens) => outcomeOf(lens, plan, reviews)),
    ...plan.carriedLenses,
    ...plan.notRead.map(({ lens, reason, remedy }) => ({
      lens,
      state: 'not_read' as const,
      reason,
      remedy,
      findings: 0,
      rejected: 0,
      coverage: [],
    })),
  ]
}

function outcomeOf(lens: LensName, plan: Plan, reviews: readonly ReviewWithResult[]): LensOutcome {
  const parts = plan.reviews
    .filter((planned) => planned.lens === lens)
    .map(({ part }) => reviews.find(({ review }) => review.lens === lens && review.part === part))
  const results = parts.flatMap((part) => (part?.result ? [part.result] : []))
  const failed = parts.find((part) => part?.result === undefined)
  const { code, sentence } = failed?.review.reason ?? WORKER_LOST
  const notAllRead = results.length < parts.length
  const model = results.find(({ usage }) => usage)?.usage?.model
  return {
    lens,
    state: notAllRead ? 'failed' : 'read',
    ...(notAllRead ? { reason: `${code}: ${sentence}`, remedy: remedyOf(code) } : {}),
    findings: results.reduce((sum, { findings }) => sum + findings.length, 0),
    rejected: results.reduce((sum, { rejected }) => sum + rejected.length, 0),
    coverage: results.flatMap(({ coverage }) => coverage),
    ...(model ? { model } : {}),
  }
}

const WORKER_LOST: Reason = {
  code: 'lens_failed',
  sentence: 'the worker was lost before the lens had read everything.',
}

/** The remedy for a failed lens, by its reason; docs/errors.md has the same remedies. */
const REMEDIES: Partial<Record<ErrorCode, string>> = {
  model_refused: 'Check the key and the name of the model.',
  model_unreachable: 'Check the address of the model’s endpoint.',
  model_throttled: 'Give the endpoint time, or a larger quota.',
  model_quota_exhausted: 'Put credit on the account of the API key, or raise its quota.',
  model_reply_cut: 'Use a model with a larger output, or split the change.',
  model_reply_invalid: 'Use a model that keeps to a schema.',
  secret_missing: 'Put the secret of the models as docs/configuration.md says.',
}

function remedyOf(code: ErrorCode): string {
  const remedy = REMEDIES[code]
  return `${remedy === undefined ? '' : `${remedy} `}Then ask again: finished reviews are not repeated.`
}

/** Reasons without a lens: the configuration was not followed, or files were given to no model. */
function planReasons({ configurationProblems, leftOut }: Plan): string[] {
  const [problem] = configurationProblems
  const missing = leftOut.filter(isMissing)
  const [file] = missing
  const count = missing.length === 1 ? '1 file was' : `${missing.length} files were`
  return [
    ...(problem
      ? [`.github/muster.yml on the base branch has a problem, so the defaults applied: ${problem.message}`]
      : []),
    ...(file ? [`${count} not read, ${file.path} first: ${file.reason}`] : []),
  ]
}

function adjudicationOf(
  plan: Plan,
  found: readonly Finding[],
  standing: readonly Finding[],
  reviews: readonly ReviewWithResult[],
): Conclusion['adjudication'] {
  const blocks = ({ severity }: Finding) => SEVERITIES[severity].blocking
  const blocking = found.filter(blocks)
  // A finding from an earlier head is not read a second time.
  if (blocking.length === 0) return standing.some(blocks) ? 'passed_through' : 'not_needed'
  // An earlier run of this head has read these findings a second time, or passed them through.
  if (blocking.every((finding) => plan.carried.includes(finding))) return 'passed_through'
  const second = reviews.find(({ review }) => review.lens === 'adjudication')
  return second?.result?.adjudication ?? 'not_read'
}
