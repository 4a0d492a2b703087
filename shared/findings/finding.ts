/** One thing that a lens says, before and after it is grounded in the diff. */
import type { Severity } from './severity.ts'

/** Which version of a file a line belongs to, in GitHub's words: LEFT is before the change, RIGHT after it. */
export type Side = 'LEFT' | 'RIGHT'

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
export type Location =
  | {
      readonly kind: 'lines'
      readonly path: string
      readonly side: Side
      readonly startLine: number
      readonly line: number
      /** True if GitHub accepts a comment there: every line in one hunk of the diff. */
      readonly inDiff: boolean
    }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pull_request' }

/** The path of a location; `''` for the pull request as a whole. */
export function pathOf(location: ClaimedLocation | Location): string {
  return location.kind === 'pull_request' ? '' : location.path
}

/** A finding that stands: grounded, redacted, bounded. */
export interface Finding {
  /** Identity over heads: SHA-256 of lens, rule, path and the quoted text with its white space folded (64 hex). */
  readonly fingerprint: string
  readonly lens: string
  readonly rule: string
  readonly severity: Severity
  readonly title: string
  readonly why: string
  readonly clears: string
  readonly location: Location
  /** The lines meant, redacted; empty for `file` and `pull_request`. */
  readonly quote: string
  readonly fenced: boolean
  /** The head at which it was first said. */
  readonly originHead: string
  /** True if a text was cut to its limit. */
  readonly cut: boolean
}

/** A claim that could not be grounded: counted and shown, never posted as a finding. */
export interface RejectedFinding {
  readonly lens: string
  readonly rule: string
  readonly title: string
  readonly path: string
  readonly reason: 'quote_not_found' | 'quote_empty' | 'path_not_in_diff' | 'line_not_in_file' | 'over_limit'
}
