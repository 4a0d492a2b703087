/** Outcomes that a run of analyzers keeps from the verdict at its head, for the lenses that the run doesn't place. */
import { isLeftOutOfModels, type LeftOut } from '../../../shared/findings/coverage.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import { LENS_NAMES, LENSES, type LensName } from '../../../shared/findings/lens.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'
import type { Configuration } from '../../../shared/verdict/configuration.ts'
import { notLookedAt } from '../../../shared/verdict/reconciliation.ts'

export interface CarriedOutcomes {
  /** Findings of those lenses at this head. */
  readonly findings: readonly Finding[]
  /** Outcomes of the carried lenses that have read this head. */
  readonly lenses: readonly LensOutcome[]
  /** Files of the diff that were given to no model; empty unless a model lens is carried. */
  readonly leftOut: readonly LeftOut[]
}

export const NOTHING_CARRIED: CarriedOutcomes = { findings: [], lenses: [], leftOut: [] }

/** Pure. `last` is the verdict at the head of the run, `placed` the lenses that read the head again. */
export function carriedOutcomes(
  last: Conclusion,
  current: {
    readonly configuration: Configuration
    readonly placed: readonly LensName[]
    readonly files: readonly Pick<FileChange, 'path'>[]
  },
): CarriedOutcomes {
  const lenses: readonly string[] = LENS_NAMES.filter((lens) => {
    return current.configuration.lenses[lens] === 'active' && !current.placed.includes(lens)
  })
  const isCarried = ({ lens }: { readonly lens: string }) => lenses.includes(lens)
  const hasModel = LENS_NAMES.some((lens) => LENSES[lens].kind === 'model' && lenses.includes(lens))
  const paths = new Set(current.files.map(({ path }) => path))
  const unseen = notLookedAt(last)
  return {
    // Findings in `unseen` were not found at the head: Conclude answers each again.
    findings: last.findings.filter((finding) => isCarried(finding) && !unseen.has(finding.fingerprint)),
    lenses: last.lenses.filter((outcome) => outcome.state === 'read' && isCarried(outcome)),
    leftOut: hasModel ? last.leftOut.filter(isLeftOutOfModels).filter(({ path }) => paths.has(path)) : [],
  }
}
