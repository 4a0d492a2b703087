/** The plan of an attempt: which lens reads which files, under which configuration. Stored once as a document. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { leftOutSchema } from '../findings/coverage.ts'
import { fileChangeSchema } from '../findings/diff.ts'
import { findingSchema } from '../findings/finding.ts'
import { lensNameSchema, pullRequestFactsSchema } from '../findings/lens.ts'
import { type Run, repositorySchema, runKindSchema } from '../runs/run.ts'
import { announcementsSchema } from './announced-findings.ts'
import { dispositionSchema, kindReasonSchema, lensOutcomeSchema } from './conclusion.ts'
import { configurationProblemSchema, configurationSchema } from './configuration.ts'
import { plannedReviewSchema } from './partition.ts'

export const planSchema = z.object({
  contract: z.number(),
  runId: z.string(),
  planKey: z.string(),
  repository: repositorySchema,
  pullRequest: pullRequestFactsSchema,
  head: z.string(),
  baseSha: z.string(),
  mergeBase: z.string(),
  kind: runKindSchema,
  kindReason: kindReasonSchema.exactOptional(),
  /** The number of this round, from 1; 0 for `analyzers`. */
  round: z.number(),
  configuration: configurationSchema,
  configurationProblems: z.array(configurationProblemSchema),
  template: z.string().optional(),
  files: z.array(fileChangeSchema),
  /** Files given to no lens, each with a reason. */
  leftOut: z.array(leftOutSchema),
  /** True if the pull request has more files than GitHub lists. */
  filesCut: z.boolean(),
  /** Head texts fetched, path → document digest. */
  texts: z.record(z.string(), z.string()),
  reviews: z.array(plannedReviewSchema),
  /** Active lenses without a review, each with a reason: the verdict is `incomplete`. */
  notRead: z.array(z.object({ lens: lensNameSchema, reason: z.string(), remedy: z.string() })),
  /** Open at the last verdict of the thread. */
  openFindings: z.array(findingSchema),
  /** The head of the last verdict; absent before the first. */
  openAtHead: z.string().exactOptional(),
  /** Which of the open findings a review has announced. */
  announcements: announcementsSchema,
  /** Findings of active lenses that this run doesn't place, taken from the last verdict (`analyzers` runs). */
  carried: z.array(findingSchema),
  /** Outcomes of the same lenses at their last reading of this head. */
  carriedLenses: z.array(lensOutcomeSchema),
  /** The head of the last full review, for a run of analyzers only. */
  lastFullHead: z.string().exactOptional(),
  /** Dispositions from an earlier verdict at this head, shown again. */
  carriedDispositions: z.array(dispositionSchema),
  /** Model resolved for model lenses; the key is not in here. */
  model: z.object({ model: z.string(), baseUrl: z.string() }).optional(),
  /** Milliseconds since the epoch, UTC: when the plan was made. */
  plannedAt: z.number(),
})
export type Plan = Stored<typeof planSchema>

/** True if a whole verdict with this plan key exists: the run shows it again (LE1, PR4). */
export function isRestated(run: Run, plan: Pick<Plan, 'kind' | 'planKey'>): boolean {
  if (run.kind !== 'full' || plan.kind !== 'full') return false
  return run.concludedPlanKey === plan.planKey && run.concludedWhole !== false
}
