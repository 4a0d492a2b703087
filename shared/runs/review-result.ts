/** What one review came to: stored as a document when it is done, reused by retries and later attempts, never paid for twice. */

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
  /** Of an adjudication: no model read the findings a second time, each stands as it was. */
  readonly adjudication?: 'passed_through'
}
