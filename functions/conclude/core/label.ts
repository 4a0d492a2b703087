/** The label of a pull request whose head has a verdict. */
import type { LabelResource } from '../../../shared/publishing/github-payloads.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { countsOf, roundsAreOver } from './wording.ts'

/**
 * `passed` needs a head that was read whole and has no material finding. A head that was not read whole is `checking`
 * (PR3), unless a blocking finding demands action.
 */
export function labelOf(conclusion: Conclusion): LabelResource {
  const { blocking, material } = countsOf(conclusion.findings)
  if (roundsAreOver(conclusion) || blocking > 0) return { kind: 'label', label: 'muster: action required' }
  if (conclusion.verdict === 'incomplete') return { kind: 'label', label: 'muster: checking' }
  return { kind: 'label', label: material > 0 ? 'muster: action required' : 'muster: passed' }
}
