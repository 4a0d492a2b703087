/** The one label of a pull request: being checked, somebody has to act, or passed. */
import type { Conclusion } from '../../shared/conclusion.ts'
import type { LabelResource } from '../../shared/shown.ts'
import type { Ended, InProgress } from './check-run.ts'
import { countsOf, roundsAreOver } from './wording.ts'

/**
 * `passed` only for a head that was read whole and has nothing material open. What isn't known is `checking`, never
 * passed and never a demand (PR3); a blocking finding demands action also where not all was read.
 */
export function labelOf(subject: Conclusion | InProgress | Ended): LabelResource {
  if (subject.kind === 'in_progress' || subject.kind === 'ended') return { kind: 'label', label: 'muster: checking' }
  const { blocking, material } = countsOf(subject.findings)
  if (roundsAreOver(subject) || blocking > 0) return { kind: 'label', label: 'muster: action required' }
  if (subject.verdict === 'incomplete') return { kind: 'label', label: 'muster: checking' }
  return { kind: 'label', label: material > 0 ? 'muster: action required' : 'muster: passed' }
}
