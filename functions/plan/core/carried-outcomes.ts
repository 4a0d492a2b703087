/** What a run of analyzers keeps of the verdict at its head: what lenses that it doesn't place came to, and what they didn't read. */

import { isLeftOutOfModels, type LeftOut } from '../../../shared/findings/coverage.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import { LENS_NAMES, LENSES, type LensName } from '../../../shared/findings/lens.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'
import type { Configuration } from '../../../shared/verdict/config.ts'
import { notLookedAt } from '../../../shared/verdict/reconciliation.ts'

export interface CarriedOutcomes {
  /** What those lenses found at this very head. */
  readonly findings: readonly Finding[]
  /** Those that read it. */
  readonly lenses: readonly LensOutcome[]
  /** Files of the diff that were given to no model, where a model lens is carried. */
  readonly leftOut: readonly LeftOut[]
}

export const NOTHING_CARRIED: CarriedOutcomes = { findings: [], lenses: [], leftOut: [] }

/** Pure. `last` is the verdict at the head of the run, `placed` the lenses that read it again; one that is off has no say. */
export function carriedOutcomes(
  last: Conclusion,
  now: {
    readonly configuration: Configuration
    readonly placed: readonly LensName[]
    readonly files: readonly Pick<FileChange, 'path'>[]
  },
): CarriedOutcomes {
  const lenses: readonly string[] = LENS_NAMES.filter((lens) => {
    return now.configuration.lenses[lens] === 'active' && !now.placed.includes(lens)
  })
  const isCarried = ({ lens }: { readonly lens: string }) => lenses.includes(lens)
  const hasModel = LENS_NAMES.some((lens) => LENSES[lens].kind === 'model' && lenses.includes(lens))
  const paths = new Set(now.files.map(({ path }) => path))
  const unseen = notLookedAt(last)
  return {
    // What nobody looked at then wasn't found there: it is answered so again.
    findings: last.findings.filter((finding) => isCarried(finding) && !unseen.has(finding.fingerprint)),
    lenses: last.lenses.filter((outcome) => outcome.state === 'read' && isCarried(outcome)),
    leftOut: hasModel ? last.leftOut.filter(isLeftOutOfModels).filter(({ path }) => paths.has(path)) : [],
  }
}
