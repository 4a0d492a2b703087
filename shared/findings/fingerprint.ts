/** The identity of a finding over heads. */
import { digestOf } from '../base/digest.ts'

export interface FindingIdentity {
  readonly lens: string
  readonly rule: string
  /** The path of the file; `''` for the pull request as a whole. */
  readonly path: string
  /** The claimed lines, redacted, with their white space folded. */
  readonly quote: string
}

/**
 * SHA-256 of the identity (64 hex). A fingerprint survives pushes, moved lines, indentation, another severity and other
 * words of the model; a renamed file, changed code or another rule gives another fingerprint. Claims of a review with
 * the same identity are numbered by `occurrence`, from 0, so that each finding has its own.
 */
export function fingerprintOf(identity: FindingIdentity, occurrence = 0): string {
  return digestOf({ ...identity, ...(occurrence === 0 ? {} : { occurrence }) })
}
