/** The input of a review's lens, and the result of a review. Pure. */
import { type ErrorCode, isFailure, nameOf } from '../../../shared/base/errors.ts'
import { LENS_FAILURE_CHARS_MAX } from '../../../shared/base/limits.ts'
import { redact } from '../../../shared/base/redaction.ts'
import { groundClaims } from '../../../shared/findings/grounding.ts'
import type { LensName, LensOutput } from '../../../shared/findings/lens.ts'
import { SEVERITIES } from '../../../shared/findings/severity.ts'
import type { ReviewName } from '../../../shared/runs/review.ts'
import type { ReviewResult } from '../../../shared/runs/review-result.ts'
import type { Reason } from '../../../shared/runs/run.ts'
import type { PlannedReview } from '../../../shared/verdict/partition.ts'
import type { Plan } from '../../../shared/verdict/plan.ts'

/** The planned review of a name; undefined if the plan has none. */
export function plannedReviewOf(plan: Plan, name: ReviewName): PlannedReview | undefined {
  return plan.reviews.find(({ lens, part }) => lens === name.lens && part === name.part)
}

/** The result of a lens: its claims grounded in the planned files. */
export function resultOf(
  plan: Plan,
  planned: { lens: LensName; part: number; paths: readonly string[] },
  output: LensOutput,
  texts: ReadonlyMap<string, string>,
): ReviewResult {
  const paths = new Set(planned.paths)
  const { findings, rejected } = groundClaims(output.findings, {
    lens: planned.lens,
    files: plan.files.filter(({ path }) => paths.has(path)),
    texts: (path) => texts.get(path),
    head: plan.head,
    openFindings: plan.openFindings,
  })
  return {
    lens: planned.lens,
    part: planned.part,
    findings,
    rejected,
    coverage: output.coverage,
    ...(output.usage ? { usage: output.usage } : {}),
  }
}

/** An adjudication without a model: every finding stands unchanged, and the result says so (AD3: never read as "all clear"). */
export function passedThrough(part: number): ReviewResult {
  return { lens: 'adjudication', part, findings: [], rejected: [], coverage: [], adjudication: 'passed_through' }
}

/** The number of blocking findings. */
export function blockingIn(result: ReviewResult): number {
  return result.findings.filter(({ severity }) => SEVERITIES[severity].blocking).length
}

const OUT_OF_TIME = 'The lens did not end before the deadline of its function.'

/** Why a lens failed: a stable token and a sentence, redacted. */
export function failureOf(error: unknown): Reason {
  if (nameOf(error) === 'TimeoutError') return { code: 'deadline_too_near', sentence: OUT_OF_TIME }
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : 'an error without a message'
  const sentence = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message
  return { code, sentence: redact(sentence).slice(0, LENS_FAILURE_CHARS_MAX) }
}

function codeOf(error: unknown): ErrorCode {
  if (isFailure(error, 'refused') || isFailure(error, 'retry') || isFailure(error, 'dead')) return error.code
  return 'lens_failed'
}
