/** A finding of a lens, before and after grounding in the diff. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { type Severity, severitySchema } from './severity.ts'

/** A version of a file, in GitHub's words: LEFT is before the change, RIGHT after the change. */
export const sideSchema = z.enum(['LEFT', 'RIGHT'])
export type Side = z.infer<typeof sideSchema>

/** The location as a lens claims it. Analyzers know lines; a model quotes, and code computes the line. */
export type ClaimedLocation =
  | {
      readonly kind: 'lines'
      readonly path: string
      readonly side: Side
      readonly startLine: number
      readonly line: number
    }
  | {
      readonly kind: 'quote'
      readonly path: string
      readonly quote: string
      readonly side?: Side
      readonly nearLine?: number
    }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pull_request' }

/** A finding as the lens returns it. */
export interface ClaimedFinding {
  /** Stable within the lens, for example `aws-access-key-id`; part of the finding's identity. */
  readonly rule: string
  readonly severity: Severity
  /** A sentence that says what is wrong. */
  readonly title: string
  /** Why the fault matters, with the concrete way in which the code fails. */
  readonly why: string
  /** The change that would clear the finding. */
  readonly clears: string
  readonly location: ClaimedLocation
  /** Security or data loss, decided by code: only an override or a change of the code clears a fenced finding. */
  readonly fenced?: boolean
  /** Values that the lens knows to be secret: removed from all texts before anything is stored (RC7). */
  readonly conceal?: readonly string[]
}

/** The location after grounding. */
const locationSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('lines'),
    path: z.string(),
    side: sideSchema,
    startLine: z.number(),
    line: z.number(),
    /** True if GitHub accepts a comment there: all lines in one hunk of the diff. */
    inDiff: z.boolean(),
  }),
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({ kind: z.literal('pull_request') }),
])
export type Location = Stored<typeof locationSchema>

/** The path of a location; `''` for the pull request as a whole. */
export function pathOf(location: ClaimedLocation | Location): string {
  return location.kind === 'pull_request' ? '' : location.path
}

/** A finding after grounding, redacted and bounded. */
export const findingSchema = z.object({
  /** Identity over heads: shared/findings/fingerprint.ts. */
  fingerprint: z.string(),
  lens: z.string(),
  rule: z.string(),
  severity: severitySchema,
  title: z.string(),
  why: z.string(),
  clears: z.string(),
  location: locationSchema,
  /** The claimed lines, redacted; empty for `file` and `pull_request`. */
  quote: z.string(),
  fenced: z.boolean(),
  /** The first head at which the finding was found. */
  originHead: z.string(),
  /** True if a text was cut to its limit. */
  cut: z.boolean(),
})
export type Finding = Stored<typeof findingSchema>

/** A claim without grounds: counted and shown, never posted as a finding. */
export const rejectedFindingSchema = z.object({
  lens: z.string(),
  rule: z.string(),
  title: z.string(),
  path: z.string(),
  reason: z.enum(['quote_not_found', 'quote_empty', 'path_not_in_diff', 'line_not_in_file', 'over_limit']),
})
export type RejectedFinding = Stored<typeof rejectedFindingSchema>
