/** The result of one review: stored as a document, reused by retries and later attempts, and never paid for twice. */

import type { Coverage } from '../findings/coverage.ts'
import type { Finding, RejectedFinding } from '../findings/finding.ts'
import type { ReviewLens } from './review.ts'

export interface ReviewResult {
  readonly lens: ReviewLens
  readonly part: number
  readonly findings: readonly Finding[]
  readonly rejected: readonly RejectedFinding[]
  readonly coverage: readonly Coverage[]
  readonly usage?: { readonly model: string; readonly inputTokens: number; readonly outputTokens: number }
  /** Of an adjudication without a model: every finding stands unchanged. */
  readonly adjudication?: 'passed_through'
}
