/** Counts, durations, single lines and verdicts as text, for all commands. Pure. */

import { visible } from '../shared/base/text.ts'
import { SEVERITIES } from '../shared/findings/severity.ts'
import type { Conclusion } from '../shared/verdict/conclusion.ts'

/** `1 finding`, `2 findings`. */
export function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}

/** Milliseconds for people: `0.8 s`, `12 s`, `2 min 5 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 100) return `${Math.round(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/** A foreign text as one line that can't move a terminal's cursor. */
export function visibleLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim()
}

const VERDICTS = {
  pass: 'Passed',
  concerns: 'Concerns',
  changes_requested: 'Changes requested',
  incomplete: 'Incomplete',
} as const

/** `Changes requested: 3 critical, 1 important, 1 suggestion`. */
export function verdictLine({ verdict, findings }: Conclusion): string {
  const headings = findings.map(({ severity }) => SEVERITIES[severity].heading)
  const count = (heading: string) => headings.filter((each) => each === heading).length
  const suggestions = count('suggestion')
  const counts = [
    ...(count('critical') > 0 ? [`${count('critical')} critical`] : []),
    ...(count('important') > 0 ? [`${count('important')} important`] : []),
    ...(suggestions > 0 ? [counted(suggestions, 'suggestion')] : []),
  ]
  return `${VERDICTS[verdict]}: ${counts.join(', ') || 'no findings'}`
}
