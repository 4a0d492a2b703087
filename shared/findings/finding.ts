/** A finding of a lens, before and after grounding in the diff. */
import type { Severity } from './severity.ts'

/** A version of a file, in GitHub's words: LEFT is before the change, RIGHT after the change. */
export type Side = 'LEFT' | 'RIGHT'

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
export type Location =
  | {
      readonly kind: 'lines'
      readonly path: string
      readonly side: Side
      readonly startLine: number
      readonly line: number
      /** True if GitHub accepts a comment there: all lines in one hunk of the diff. */
      readonly inDiff: boolean
    }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pull_request' }

/** The path of a location; `''` for the pull request as a whole. */
export function pathOf(location: ClaimedLocation | Location): string {
  return location.kind === 'pull_request' ? '' : location.path
}

/** A finding after grounding, redacted and bounded. */
export interface Finding {
  /** Identity over heads: shared/findings/fingerprint.ts. */
  readonly fingerprint: string
  readonly lens: string
  readonly rule: string
  readonly severity: Severity
  readonly title: string
  readonly why: string
  readonly clears: string
  readonly location: Location
  /** The claimed lines, redacted; empty for `file` and `pull_request`. */
  readonly quote: string
  readonly fenced: boolean
  /** The first head at which the finding was found. */
  readonly originHead: string
  /** True if a text was cut to its limit. */
  readonly cut: boolean
}

/** A claim without grounds: counted and shown, never posted as a finding. */
export interface RejectedFinding {
  readonly lens: string
  readonly rule: string
  readonly title: string
  readonly path: string
  readonly reason: 'quote_not_found' | 'quote_empty' | 'path_not_in_diff' | 'line_not_in_file' | 'over_limit'
}
