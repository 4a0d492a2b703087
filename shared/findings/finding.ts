/** One thing that a lens says, before and after it is grounded in the diff. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { type Severity, severitySchema } from './severity.ts'

/** Which version of a file a line belongs to, in GitHub's words: LEFT is before the change, RIGHT after it. */
export const sideSchema = z.enum(['LEFT', 'RIGHT'])
export type Side = z.infer<typeof sideSchema>

/** Where a lens says that its finding is. Analyzers know lines; a model quotes, and code computes the line. */
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

/** What a lens returns for each thing it found. */
export interface ClaimedFinding {
  /** Stable within the lens, for example `aws-access-key-id`; part of the finding's identity. */
  readonly rule: string
  readonly severity: Severity
  /** What: one sentence. */
  readonly title: string
  /** Why it matters, with the concrete way in which it fails. */
  readonly why: string
  /** What would clear it. */
  readonly clears: string
  readonly location: ClaimedLocation
  /** Security or data loss, decided by code: cleared only by an override or a change (DESIGN §7). */
  readonly fenced?: boolean
  /** Values that the lens knows to be secret: taken out of every text and of the quote before anything is kept (RC7). */
  readonly conceal?: readonly string[]
}

/** Where a finding is, once that is certain. */
const locationSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('lines'),
    path: z.string(),
    side: sideSchema,
    startLine: z.number(),
    line: z.number(),
    /** True if GitHub accepts a comment there: every line in one hunk of the diff. */
    inDiff: z.boolean(),
  }),
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({ kind: z.literal('pull_request') }),
])
export type Location = Stored<typeof locationSchema>

/** A finding that stands: grounded, redacted, bounded. */
export const findingSchema = z.object({
  /** Identity over heads: SHA-256 of lens, rule, path and the quoted text with its white space folded (64 hex). */
  fingerprint: z.string(),
  lens: z.string(),
  rule: z.string(),
  severity: severitySchema,
  title: z.string(),
  why: z.string(),
  clears: z.string(),
  location: locationSchema,
  /** The lines meant, redacted; empty for `file` and `pull_request`. */
  quote: z.string(),
  fenced: z.boolean(),
  /** The head at which it was first said. */
  originHead: z.string(),
  /** True if a text was cut to its limit. */
  cut: z.boolean(),
})
export type Finding = Stored<typeof findingSchema>

/** A claim that could not be grounded: counted and shown, never posted as a finding. */
export const rejectedFindingSchema = z.object({
  lens: z.string(),
  rule: z.string(),
  title: z.string(),
  path: z.string(),
  reason: z.enum(['quote_not_found', 'quote_empty', 'path_not_in_diff', 'line_not_in_file', 'over_limit']),
})
export type RejectedFinding = Stored<typeof rejectedFindingSchema>
