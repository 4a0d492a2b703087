/** The result of one review: stored as a document, reused by retries and later attempts, and never paid for twice. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { coverageSchema } from '../findings/coverage.ts'
import { findingSchema, rejectedFindingSchema } from '../findings/finding.ts'
import { usageSchema } from '../findings/lens.ts'
import { reviewLensSchema } from './review.ts'

export const reviewResultSchema = z.object({
  lens: reviewLensSchema,
  part: z.number(),
  findings: z.array(findingSchema),
  rejected: z.array(rejectedFindingSchema),
  coverage: z.array(coverageSchema),
  usage: usageSchema.exactOptional(),
  /** Of an adjudication without a model: every finding stands unchanged. */
  adjudication: z.literal('passed_through').exactOptional(),
})
export type ReviewResult = Stored<typeof reviewResultSchema>
