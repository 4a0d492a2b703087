/** The identity by which a finding is known again at later heads. */
import { digestOf } from '../base/digest.ts'

export interface FindingIdentity {
  readonly lens: string
  readonly rule: string
  /** The path of the file; `''` for the pull request as a whole. */
  readonly path: string
  /** The lines that the claim meant, redacted, with their white space folded. */
  readonly quote: string
}

/**
 * SHA-256 of the identity (64 hex). The fingerprint survives pushes, moved lines, indentation, another severity and other words
 * of the model. A renamed file, changed code or another rule makes another finding. A claim that repeats an identity in one
 * review has the number of claims before it as `occurrence`, so that each finding has a fingerprint of its own.
 */
export function fingerprintOf(identity: FindingIdentity, occurrence = 0): string {
  return digestOf({ ...identity, ...(occurrence === 0 ? {} : { occurrence }) })
}
