/** Payloads for GitHub, stored as documents: messages are said once, resources are kept true. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { sideSchema } from '../findings/finding.ts'

/** An inline comment of a review, at a location that GitHub accepts. `startLine` is absent for one line (A3, AW80). */
const inlineCommentSchema = z.object({
  path: z.string(),
  side: sideSchema,
  line: z.number(),
  startLine: z.number().exactOptional(),
  body: z.string(),
})
export type InlineComment = Stored<typeof inlineCommentSchema>

/** A review: created pending, then submitted. `body` carries the marker. */
export const reviewMessageSchema = z.object({
  kind: z.literal('review'),
  marker: z.string(),
  head: z.string(),
  event: z.enum(['COMMENT', 'REQUEST_CHANGES']),
  body: z.string(),
  comments: z.array(inlineCommentSchema),
})
export type ReviewMessage = Stored<typeof reviewMessageSchema>

/** The only answer to a command. `body` carries the marker as its last line. */
export const replyMessageSchema = z.object({ kind: z.literal('reply'), marker: z.string(), body: z.string() })
export type ReplyMessage = Stored<typeof replyMessageSchema>

const annotationSchema = z.object({
  path: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  level: z.enum(['failure', 'warning', 'notice']),
  title: z.string(),
  message: z.string(),
})
export type Annotation = Stored<typeof annotationSchema>

/** One check run per head. `externalId` is derived from repository, pull request and head. */
const checkRunSchema = z.object({
  kind: z.literal('check_run'),
  head: z.string(),
  externalId: z.string(),
  name: z.string(),
  status: z.enum(['in_progress', 'completed']),
  conclusion: z.enum(['success', 'failure', 'neutral', 'action_required', 'cancelled']).exactOptional(),
  title: z.string(),
  summary: z.string(),
  text: z.string(),
  annotations: z.array(annotationSchema),
})
export type CheckRunResource = Stored<typeof checkRunSchema>
export type CheckConclusion = NonNullable<CheckRunResource['conclusion']>

/** One comment per pull request, updated in place. Post appends the marker with the generation to `body`. */
const summarySchema = z.object({ kind: z.literal('summary'), body: z.string() })
export type SummaryResource = Stored<typeof summarySchema>

export const LABELS = ['muster: checking', 'muster: action required', 'muster: passed'] as const
export type Label = (typeof LABELS)[number]

/** Exactly one of the three labels. `none`: the run ended without a verdict, and no other run speaks. */
const labelSchema = z.object({ kind: z.literal('label'), label: z.enum([...LABELS, 'none']) })
export type LabelResource = Stored<typeof labelSchema>

export const resourceSchema = z.discriminatedUnion('kind', [checkRunSchema, summarySchema, labelSchema])
export type Resource = Stored<typeof resourceSchema>

/** Hidden markers, versioned. */
export const markerOf = {
  /** `supplement` is the attempt that adds to an earlier message of the same plan key; 0 for the first. */
  review: (runId: string, planKey: string, supplement = 0) =>
    `<!-- muster:v1 review ${runId} ${planKey}${supplement === 0 ? '' : ` a${supplement}`} -->`,
  summary: (repositoryId: number, number: number, generation: number) =>
    `<!-- muster:v1 summary ${repositoryId}#${number} ${generation} -->`,
  reply: (commentId: number) => `<!-- muster:v1 reply ${commentId} -->`,
  finding: (fingerprint: string) => `<!-- muster:v1 finding ${fingerprint} -->`,
  /** Digest of a review's payload: a pending review with another digest is not adopted. */
  payload: (digest: string) => `<!-- muster:v1 payload ${digest} -->`,
} as const
