/** The label of a pull request whose head has a verdict: somebody has to act, passed, or still not known. */

import type { LabelResource } from '../../../shared/publishing/github-payloads.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { countsOf, roundsAreOver } from './wording.ts'

/**
 * `passed` only for a head that was read whole and has nothing material open. What isn't known is `checking`, never
 * passed and never a demand (PR3); a blocking finding demands action also where not all was read.
 */
export function labelOf(conclusion: Conclusion): LabelResource {
  const { blocking, material } = countsOf(conclusion.findings)
  if (roundsAreOver(conclusion) || blocking > 0) return { kind: 'label', label: 'muster: action required' }
  if (conclusion.verdict === 'incomplete') return { kind: 'label', label: 'muster: checking' }
  return { kind: 'label', label: material > 0 ? 'muster: action required' : 'muster: passed' }
}
