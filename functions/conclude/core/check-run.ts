/** The check run of a head: its colour, its title with the counts, and an annotation for each finding with lines. */
import { ANNOTATION_BYTES_MAX, ANNOTATIONS_MAX, CHECK_TITLE_CHARS_MAX } from '../../../shared/base/limits.ts'
import { capitalized, cutAtBytes, visible } from '../../../shared/base/text.ts'
import { SEVERITIES } from '../../../shared/findings/severity.ts'
import { checkRunIdentity } from '../../../shared/publishing/check-run.ts'
import type { Annotation, CheckConclusion, CheckRunResource } from '../../../shared/publishing/github-payloads.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { notLookedAt } from '../../../shared/verdict/reconciliation.ts'
import { summaryOf } from './summary.ts'
import {
  actionOf,
  closingOf,
  countsOf,
  countsSentence,
  lensesThatRead,
  roundsAreOver,
  severityWord,
} from './wording.ts'

/** The check run of a head with a verdict. `shared/publishing/check-run.ts` has the check runs without a verdict. */
export function checkRunOf(conclusion: Conclusion): CheckRunResource {
  return {
    kind: 'check_run',
    ...checkRunIdentity(conclusion),
    status: 'completed',
    conclusion: colourOf(conclusion),
    title: titleOf(conclusion),
    summary: `**Next:** ${actionOf(conclusion)}\n\n${closingOf(conclusion)}`,
    text: summaryOf(conclusion).body,
    annotations: annotationsOf(conclusion),
  }
}

/** A push after the last round is never green: action required with material findings open, else neutral. */
function colourOf(conclusion: Conclusion): CheckConclusion {
  if (roundsAreOver(conclusion)) return countsOf(conclusion.findings).material > 0 ? 'action_required' : 'neutral'
  switch (conclusion.verdict) {
    case 'changes_requested':
      return 'failure'
    case 'concerns':
    case 'incomplete':
      return 'neutral'
    case 'pass':
      return 'success'
  }
}

/** Plain text: GitHub renders no Markdown in a title. */
function titleOf(conclusion: Conclusion): string {
  const counts = countsSentence(countsOf(conclusion.findings))
  const read = lensesThatRead(conclusion.lenses).length
  const all = conclusion.lenses.length
  const lenses = read === all ? `${all} ${all === 1 ? 'lens' : 'lenses'}` : `${read} of ${all} lenses read`
  const prefix = roundsAreOver(conclusion)
    ? 'Rounds are over: '
    : conclusion.verdict === 'incomplete'
      ? 'Incomplete: '
      : ''
  return capitalized(`${prefix}${counts}; ${lenses}`).slice(0, CHECK_TITLE_CHARS_MAX)
}

/** Plain text. GitHub can't annotate removed lines; a finding that no lens looked at again has unknown lines. */
function annotationsOf(conclusion: Conclusion): Annotation[] {
  const unseen = notLookedAt(conclusion)
  const annotations = conclusion.findings.flatMap((finding): Annotation[] => {
    const { location, fingerprint } = finding
    if (location.kind !== 'lines' || location.side !== 'RIGHT' || unseen.has(fingerprint)) return []
    const { blocking, material } = SEVERITIES[finding.severity]
    const title = `${severityWord(finding)}: ${visible(finding.title).replace(/\s+/g, ' ')}`
    const message = visible(`${finding.why}\n\nTo clear it: ${finding.clears}`)
    return [
      {
        path: location.path,
        startLine: location.startLine,
        endLine: location.line,
        level: blocking ? 'failure' : material ? 'warning' : 'notice',
        title: cutAtBytes(title, CHECK_TITLE_CHARS_MAX).text,
        message: cutAtBytes(message, ANNOTATION_BYTES_MAX).text,
      },
    ]
  })
  return annotations.slice(0, ANNOTATIONS_MAX)
}
