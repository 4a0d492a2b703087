/** The conclusion of a run: pure data, stored as a document, the source of everything that GitHub shows. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { coverageSchema, leftOutSchema } from '../findings/coverage.ts'
import { findingSchema, rejectedFindingSchema } from '../findings/finding.ts'
import { lensNameSchema } from '../findings/lens.ts'
import { repositorySchema, runKindSchema } from '../runs/run.ts'
import { configurationProblemSchema } from './configuration.ts'

/** Why a run is of analyzers only. */
export const kindReasonSchema = z.enum(['rounds_ceiling', 'text_edited'])

/** The outcome of an earlier finding at this head. */
export const dispositionSchema = z.object({
  finding: findingSchema,
  verb: z.enum(['fixed', 'still_present', 'no_longer_applicable', 'not_looked_at']),
})
export type Disposition = Stored<typeof dispositionSchema>

/** The outcome of a lens over all its parts. */
export const lensOutcomeSchema = z.object({
  lens: lensNameSchema,
  state: z.enum(['read', 'failed', 'not_read']),
  /** Stable code and a sentence, where it isn't `read`. */
  reason: z.string().exactOptional(),
  remedy: z.string().exactOptional(),
  findings: z.number(),
  rejected: z.number(),
  coverage: z.array(coverageSchema),
  model: z.string().exactOptional(),
})
export type LensOutcome = Stored<typeof lensOutcomeSchema>

export const conclusionSchema = z.object({
  runId: z.string(),
  planKey: z.string(),
  repository: repositorySchema.omit({ installationId: true }),
  number: z.number(),
  head: z.string(),
  baseRef: z.string(),
  kind: runKindSchema,
  kindReason: kindReasonSchema.exactOptional(),
  /** The newest head of this series that was reviewed in full; absent if `head` was. */
  lastFullHead: z.string().exactOptional(),
  round: z.number(),
  roundsCeiling: z.number(),
  verdict: z.enum(['pass', 'concerns', 'changes_requested', 'incomplete']),
  /** A sentence for each reason; empty unless the verdict is `incomplete`. */
  incompleteReasons: z.array(z.string()),
  /** Standing findings, new and still present, worst first. */
  findings: z.array(findingSchema),
  /** Fingerprints among `findings` that an earlier review has announced: no new comment for them (D9). */
  announcedBefore: z.array(z.string()),
  /** The key of the message that announces the others; absent without a message, as in a run of analyzers. */
  announcedIn: z.string().exactOptional(),
  dispositions: z.array(dispositionSchema),
  rejected: z.array(rejectedFindingSchema),
  /** Findings merged into another finding of the same fingerprint. */
  merged: z.number(),
  lenses: z.array(lensOutcomeSchema),
  /** Files given to no lens. Documents of an earlier version lack `because`. */
  leftOut: z.array(leftOutSchema.extend({ because: leftOutSchema.shape.because.exactOptional() })),
  configurationProblems: z.array(configurationProblemSchema),
  adjudication: z.enum(['not_needed', 'passed_through', 'not_read']),
})
export type Conclusion = Stored<typeof conclusionSchema>
export type Verdict = Conclusion['verdict']
