/** Payloads for GitHub, stored as documents: messages are said once, resources are kept true. */
import type { Side } from '../findings/finding.ts'

/** An inline comment of a review, at a location that GitHub accepts. `startLine` is absent for one line (A3, AW80). */
export interface InlineComment {
  readonly path: string
  readonly side: Side
  readonly line: number
  readonly startLine?: number
  readonly body: string
}

/** A review: created pending, then submitted. `body` carries the marker. */
export interface ReviewMessage {
  readonly kind: 'review'
  readonly marker: string
  readonly head: string
  readonly event: 'COMMENT' | 'REQUEST_CHANGES'
  readonly body: string
  readonly comments: readonly InlineComment[]
}

/** The only answer to a command. `body` carries the marker as its last line. */
export interface ReplyMessage {
  readonly kind: 'reply'
  readonly marker: string
  readonly body: string
}

export interface Annotation {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export type CheckConclusion = 'success' | 'failure' | 'neutral' | 'action_required' | 'cancelled'

/** One check run per head. `externalId` is derived from repository, pull request and head. */
export interface CheckRunResource {
  readonly kind: 'check_run'
  readonly head: string
  readonly externalId: string
  readonly name: string
  readonly status: 'in_progress' | 'completed'
  readonly conclusion?: CheckConclusion
  readonly title: string
  readonly summary: string
  readonly text: string
  readonly annotations: readonly Annotation[]
}

/** One comment per pull request, updated in place. Post appends the marker with the generation to `body`. */
export interface SummaryResource {
  readonly kind: 'summary'
  readonly body: string
}

export const LABELS = ['muster: checking', 'muster: action required', 'muster: passed'] as const
export type Label = (typeof LABELS)[number]

/** Exactly one of the three labels. `none`: the run ended without a verdict, and no other run speaks. */
export interface LabelResource {
  readonly kind: 'label'
  readonly label: Label | 'none'
}

export type Resource = CheckRunResource | SummaryResource | LabelResource

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
