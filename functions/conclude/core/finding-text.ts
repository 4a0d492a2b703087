/** The Markdown of a finding, in as much detail as there is room for. */

import { BRIEF_REMEDY_BYTES_MAX } from '../../../shared/base/limits.ts'
import { cutAtBytes } from '../../../shared/base/text.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { code, inline, prose, shortSha } from './markdown.ts'
import { locationText, severityWord } from './wording.ts'

/** From most to least: everything; location and a short remedy; a line; a number in a count. */
export type Detail = 'full' | 'brief' | 'named' | 'counted'

export interface NamedLimits {
  readonly titleBytesMax: number
  readonly pathBytesMax: number
}

/** A named finding takes a line on a wide screen. */
const NAMED: NamedLimits = { titleBytesMax: 160, pathBytesMax: 160 }
/** Limits for a summary that is too long even with `NAMED`. */
export const NAMED_SHORT: NamedLimits = { titleBytesMax: 32, pathBytesMax: 48 }

/** Lines of the summary for a finding; none for `counted`. People refer to the finding by `number`. */
export function findingLines(
  finding: Finding,
  number: number,
  detail: Detail,
  conclusion: Pick<Conclusion, 'dispositions'>,
): string[] {
  switch (detail) {
    case 'counted':
      return []
    case 'named':
      return [namedLine(finding, number)]
    case 'brief':
      return [
        `**${number}. ${inline(finding.title)}**  `,
        `${factsOf(finding, conclusion)}  `,
        `To clear it: ${inline(cutAtBytes(finding.clears, BRIEF_REMEDY_BYTES_MAX).text)}`,
        '',
      ]
    case 'full':
      return [
        `#### ${number}. ${inline(finding.title)}`,
        '',
        factsOf(finding, conclusion),
        '',
        prose(finding.why),
        '',
        clearsText(finding.clears),
        '',
      ]
  }
}

/** A list item with number, title, path and lens; title and path are cut to `limits`. */
export function namedLine(finding: Finding, number: number, limits: NamedLimits = NAMED): string {
  const title = inline(cutAtBytes(finding.title, limits.titleBytesMax).text)
  const { location } = finding
  // The path is cut before it becomes code: a cut code span would release the text after it.
  const shown =
    location.kind === 'pull_request'
      ? location
      : { ...location, path: cutAtBytes(location.path, limits.pathBytesMax).text }
  return `- **${number}.** ${title} (${locationText(shown)}, ${finding.lens})`
}

/**
 * The inline comment for a finding, without its marker. A reader of the comment may not know the summary, so the
 * comment is complete. `textBytesMax` cuts the reasons, never the title.
 */
export function commentText(finding: Finding, textBytesMax: number): string {
  return [
    `**${severityWord(finding)}: ${inline(finding.title)}**`,
    '',
    prose(cutAtBytes(finding.why, textBytesMax).text),
    '',
    clearsText(cutAtBytes(finding.clears, textBytesMax).text),
    '',
    `<sub>Muster, lens ${finding.lens}, rule ${code(finding.rule)}</sub>`,
  ].join('\n')
}

/** Location, lens, rule, and the head since which the finding is open. */
function factsOf(finding: Finding, { dispositions }: Pick<Conclusion, 'dispositions'>): string {
  const where =
    finding.location.kind === 'pull_request' ? 'The pull request as a whole' : locationText(finding.location)
  const parts = [where, `lens ${finding.lens}`, `rule ${code(finding.rule)}`]
  const answer = dispositions.find((disposition) => disposition.finding.fingerprint === finding.fingerprint)
  const since = `open since ${shortSha(finding.originHead)}`
  if (answer?.verb === 'still_present') parts.push(since)
  if (answer?.verb === 'not_looked_at') parts.push(`${since}, not looked at again`)
  if (finding.cut) parts.push('text cut to its limit')
  return parts.join(' · ')
}

/** Lists and code blocks need a line of their own in Markdown. */
function clearsText(clears: string): string {
  const text = prose(clears)
  return /^(`{3}|- |\d+\. )/.test(text) ? `**To clear it:**\n\n${text}` : `**To clear it:** ${text}`
}
