/** Sentences that all texts of Muster share: verdict, counts, next step, findings that remain. */
import { capitalized } from '../../../shared/base/text.ts'
import type { Finding, Location } from '../../../shared/findings/finding.ts'
import { SEVERITIES } from '../../../shared/findings/severity.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'
import { code, counted, shortSha } from './markdown.ts'

export interface Counts {
  readonly critical: number
  readonly important: number
  readonly suggestions: number
  readonly blocking: number
  readonly material: number
  readonly all: number
}

export function countsOf(findings: readonly Pick<Finding, 'severity'>[]): Counts {
  const meanings = findings.map(({ severity }) => SEVERITIES[severity])
  return {
    critical: meanings.filter(({ heading }) => heading === 'critical').length,
    important: meanings.filter(({ heading }) => heading === 'important').length,
    suggestions: meanings.filter(({ heading }) => heading === 'suggestion').length,
    blocking: meanings.filter(({ blocking }) => blocking).length,
    material: meanings.filter(({ material }) => material).length,
    all: findings.length,
  }
}

/** `1 critical, 2 important, 3 suggestions`, without zero counts. */
export function countsSentence({ critical, important, suggestions }: Counts): string {
  const parts = [
    critical > 0 ? `${critical} critical` : '',
    important > 0 ? `${important} important` : '',
    suggestions > 0 ? counted(suggestions, 'suggestion') : '',
  ]
  return parts.filter((part) => part !== '').join(', ') || 'no findings'
}

/** True after the last round of the series: then only the analyzers have read this head. */
export function roundsAreOver({ kind, kindReason }: Conclusion): boolean {
  return kind === 'analyzers' && kindReason === 'rounds_ceiling'
}

/** The verdict in two or three words. */
export function headlineOf(conclusion: Conclusion): string {
  if (roundsAreOver(conclusion)) return 'not reviewed in full'
  switch (conclusion.verdict) {
    case 'changes_requested':
      return 'changes requested'
    case 'concerns':
      return 'concerns'
    case 'pass':
      return 'passed'
    case 'incomplete':
      return 'incomplete'
  }
}

/** The next step for a person in a hurry. */
export function actionOf(conclusion: Conclusion): string {
  const counts = countsOf(conclusion.findings)
  const sentences: string[] = []
  if (roundsAreOver(conclusion)) {
    const last =
      conclusion.lastFullHead === undefined ? '' : ` The last full review was at ${shortSha(conclusion.lastFullHead)}.`
    sentences.push(
      `A maintainer decides: the rounds of this pull request are used up, and only the analyzers read this push.${last}`,
    )
  }
  if (counts.blocking > 0) sentences.push(blockingSentence(conclusion))
  else if (counts.material > 0)
    sentences.push(`Look at the ${counted(counts.material, 'important finding')}; nothing blocks.`)
  else if (counts.all > 0) sentences.push(`Consider the ${counted(counts.all, 'suggestion')}; nothing blocks.`)
  if (conclusion.verdict === 'incomplete') {
    sentences.push('The review is incomplete: the summary lists the missing parts.')
  }
  return sentences.length === 0 ? 'Nothing to do: Muster has no findings.' : sentences.join(' ')
}

/**
 * The closing sentence: whether a material finding remains at exactly this SHA. A partial reading is never "all clear"
 * (J5).
 */
export function closingOf(conclusion: Conclusion): string {
  const { material } = countsOf(conclusion.findings)
  const at = `At exactly ${code(conclusion.head)},`
  const remaining = `${counted(material, 'critical or important finding')} ${material === 1 ? 'remains' : 'remain'}`
  if (conclusion.verdict === 'incomplete' || roundsAreOver(conclusion)) {
    return material > 0
      ? `${at} at least ${remaining}; the head was not read in full.`
      : `${at} critical or important findings may remain, because the head was not read in full.`
  }
  return material > 0 ? `${at} ${remaining}.` : `${at} no critical or important finding remains.`
}

/** `round 1 of 3`, or the reason why the run is no round. */
export function roundWords({ kind, kindReason, round, roundsCeiling }: Conclusion): string {
  if (kind === 'full') return roundsCeiling === 0 ? `round ${round}` : `round ${round} of ${roundsCeiling}`
  return kindReason === 'text_edited' ? 'analyzers only, after an edit of the description' : 'analyzers only, no round'
}

/** `src/a.ts:12`, as code; a location without a line says so. */
export function locationText(location: Location): string {
  if (location.kind === 'pull_request') return 'the pull request as a whole'
  if (location.kind === 'file') return `${code(location.path)}, the whole file`
  const lines = location.startLine < location.line ? `${location.startLine}-${location.line}` : `${location.line}`
  return `${code(`${location.path}:${lines}`)}${location.side === 'LEFT' ? ', before the change' : ''}`
}

/** `Critical`, `Important`, `Suggestion`. */
export function severityWord({ severity }: Pick<Finding, 'severity'>): string {
  return capitalized(SEVERITIES[severity].heading)
}

/** The result of the second reading. */
export function adjudicationSentence({ adjudication }: Conclusion): string {
  switch (adjudication) {
    case 'not_needed':
      return 'No finding blocks, so there was no second reading.'
    case 'passed_through':
      return 'Muster has no second reader yet: the blocking findings stand as their lenses reported them.'
    case 'not_read':
      return 'The second reading did not happen: the blocking findings stand as their lenses reported them.'
  }
}

export function lensesThatRead(lenses: readonly LensOutcome[]): readonly LensOutcome[] {
  return lenses.filter(({ state }) => state === 'read')
}

function blockingSentence({ findings }: Conclusion): string {
  const counts = countsOf(findings.filter(({ severity }) => SEVERITIES[severity].blocking))
  const which = counts.blocking === 1 ? 'the blocking finding' : `the ${counts.blocking} blocking findings`
  return `Clear ${which} before merging: ${countsSentence(counts)}.`
}
