/**
 * The summary comment: the whole conclusion, the next step first. Where the summary is too long for GitHub, parts are
 * shed in a fixed order (S4) and named at its end; blocking findings are shortened, never left out.
 */
import {
  GITHUB_BODY_BYTES_MAX,
  MACHINE_BLOCK_BYTES_MAX,
  SUMMARY_MARKER_BYTES,
  SUMMARY_REASON_BYTES_MAX,
} from '../../../shared/base/limits.ts'
import { byteLength, cutAtBytes } from '../../../shared/base/text.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import { SEVERITIES } from '../../../shared/findings/severity.ts'
import type { SummaryResource } from '../../../shared/publishing/github-payloads.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { coverageTable, leftOutFiles, readInFullByAll, unreadFiles } from './coverage-text.ts'
import { type Detail, findingLines, NAMED_SHORT, namedLine } from './finding-text.ts'
import { code, counted, hiddenJson, inline, listed, shortSha } from './markdown.ts'
import {
  actionOf,
  adjudicationSentence,
  closingOf,
  countsOf,
  countsSentence,
  headlineOf,
  lensesThatRead,
  locationText,
  roundWords,
} from './wording.ts'

/** The room for each section. */
interface Room {
  readonly blocking: Detail
  readonly material: Detail
  readonly suggestions: Detail
  readonly strengths: boolean
  readonly unreadFiles: boolean
  readonly rejected: boolean
  readonly prior: boolean
  readonly problems: boolean
  readonly machineFindings: boolean
}

const ALL: Room = {
  blocking: 'full',
  material: 'full',
  suggestions: 'full',
  strengths: true,
  unreadFiles: true,
  rejected: true,
  prior: true,
  problems: true,
  machineFindings: true,
}

/** The fixed order in which a long summary is shortened, and the words for each shed part. */
const SHEDDING: readonly (readonly [Partial<Room>, string])[] = [
  [{ machineFindings: false }, 'the list of findings for programs'],
  [{ strengths: false }, 'strengths'],
  [{ unreadFiles: false }, 'names of files that were not read'],
  [{ rejected: false }, 'titles of rejected findings'],
  [{ suggestions: 'brief' }, 'reasons of suggestions'],
  [{ suggestions: 'named' }, 'details of suggestions'],
  [{ prior: false }, 'titles of prior findings'],
  [{ material: 'brief' }, 'reasons of important findings that do not block'],
  [{ material: 'named' }, 'details of important findings that do not block'],
  [{ suggestions: 'counted' }, 'titles of suggestions'],
  [{ material: 'counted' }, 'titles of important findings that do not block'],
  [{ problems: false }, 'configuration problems'],
  [{ blocking: 'brief' }, 'reasons of blocking findings'],
  [{ blocking: 'named' }, 'details of blocking findings'],
]

/** The summary with its marker stays below GITHUB_BODY_BYTES_MAX. */
export function summaryOf(conclusion: Conclusion): SummaryResource {
  const bytesMax = GITHUB_BODY_BYTES_MAX - SUMMARY_MARKER_BYTES
  let room = ALL
  const shed: string[] = []
  for (const step of [undefined, ...SHEDDING]) {
    if (step !== undefined) {
      room = { ...room, ...step[0] }
      shed.push(step[1])
    }
    if (rawLength(conclusion, room) > bytesMax) continue // rendering would be in vain
    const body = render(conclusion, room, shed)
    if (byteLength(body) <= bytesMax) return { kind: 'summary', body }
  }
  return { kind: 'summary', body: shortest(conclusion, room, shed, bytesMax) }
}

/** Characters of the findings' texts in this room: a lower bound of the rendered bytes, but for white space. */
function rawLength({ findings }: Conclusion, room: Room): number {
  const lengths: Readonly<Record<Detail, (finding: Finding) => number>> = {
    full: ({ title, why, clears }) => title.length + why.length + clears.length,
    brief: ({ title }) => title.length,
    named: ({ lens }) => lens.length,
    counted: () => 0,
  }
  return findings.reduce((sum, finding) => sum + lengths[detailOf(finding, room)](finding), 0)
}

function render(conclusion: Conclusion, room: Room, shed: readonly string[], blocking?: readonly string[]): string {
  const { findings, head, baseRef } = conclusion
  const counts = countsOf(findings)
  const lines = [
    `## Muster: ${headlineOf(conclusion)}`,
    '',
    `**Next:** ${actionOf(conclusion)}`,
    '',
    `Reviewed head ${code(head)} against ${code(baseRef)}, ${roundWords(conclusion)}: ${countsSentence(counts)}.`,
    ...incomplete(conclusion),
    ...problems(conclusion, room),
    ...prior(conclusion, room),
    ...findingSections(conclusion, room, blocking),
    ...rejected(conclusion, room),
    ...strengths(conclusion, room),
    ...coverage(conclusion, room),
    '',
    closingOf(conclusion),
    ...(shed.length === 0 ? [] : ['', `<sub>Left out, because a comment has a limit: ${shed.join('; ')}.</sub>`]),
    '',
    machineBlock(conclusion, room),
  ]
  return lines.join('\n')
}

function incomplete({ incompleteReasons }: Conclusion): string[] {
  if (incompleteReasons.length === 0) return []
  return [
    '',
    '### What is missing',
    '',
    ...incompleteReasons.map((reason) => `- ${inline(cutAtBytes(reason, SUMMARY_REASON_BYTES_MAX).text)}`),
  ]
}

function problems({ configurationProblems }: Conclusion, room: Room): string[] {
  if (configurationProblems.length === 0) return []
  const heading = ['', `### Configuration problems (${configurationProblems.length})`, '']
  const sentence = 'The defaults apply until `.github/muster.yml` on the base branch is corrected.'
  if (!room.problems) return [...heading, sentence]
  const items = configurationProblems.map(
    ({ at, message }) => `- ${at === '' ? '' : `${code(at)}: `}${inline(message)}`,
  )
  return [...heading, sentence, '', ...items]
}

const VERBS = {
  fixed: 'fixed',
  still_present: 'still present',
  no_longer_applicable: 'no longer applicable',
  not_looked_at: 'not looked at, stays open',
} as const

function prior({ dispositions }: Conclusion, room: Room): string[] {
  if (dispositions.length === 0) return []
  const heading = ['', `### Earlier findings (${dispositions.length})`, '']
  if (!room.prior) {
    const counts = Object.entries(VERBS).map(([verb, words]) => {
      return `${dispositions.filter((disposition) => disposition.verb === verb).length} ${words}`
    })
    return [...heading, `${counts.join('; ')}.`]
  }
  const items = dispositions.map(({ finding, verb }) => {
    const since = `first found at ${shortSha(finding.originHead)}`
    return `- **${VERBS[verb]}**: ${inline(finding.title)} (${locationText(finding.location)}, ${since})`
  })
  return [...heading, ...items]
}

/** Numbered through all sections, worst first, so that people can say "number 3". */
function findingSections(conclusion: Conclusion, room: Room, blocking?: readonly string[]): string[] {
  const numbered = conclusion.findings.map((finding, index) => ({ finding, number: index + 1 }))
  const section = (heading: string, severities: readonly Finding['severity'][]): string[] => {
    const rows = numbered.filter(({ finding }) => severities.includes(finding.severity))
    if (rows.length === 0) return []
    const lines = rows.flatMap(({ finding, number }) => {
      return findingLines(finding, number, detailOf(finding, room), conclusion)
    })
    const listed = lines.length > 0 ? withoutLastBlank(lines) : ['There is no room to list these findings here.']
    return ['', `### ${heading} (${rows.length})`, '', ...listed]
  }
  if (blocking !== undefined) return ['', '### Critical and important', '', ...blocking]
  return [
    ...section('Critical', ['critical']),
    ...section('Important', ['high', 'medium']),
    ...section('Suggestions', ['low']),
  ]
}

function detailOf({ severity }: Finding, room: Room): Detail {
  const { blocking, material } = SEVERITIES[severity]
  if (blocking) return room.blocking
  return material ? room.material : room.suggestions
}

const REJECTIONS = {
  quote_not_found: 'the quoted code is not there',
  quote_empty: 'no code is quoted',
  path_not_in_diff: 'the file is not in the diff',
  line_not_in_file: 'the line is not in the file',
  over_limit: 'the lens had more findings than its limit',
} as const

function rejected({ rejected: all, merged }: Conclusion, room: Room): string[] {
  if (all.length === 0 && merged === 0) return []
  const sentence = `${counted(all.length, 'claim')} ${all.length === 1 ? 'was' : 'were'} rejected and not counted above`
  const end =
    merged === 0 ? '' : `; ${counted(merged, 'finding')} repeated another and ${merged === 1 ? 'was' : 'were'} merged`
  const items = all.map(
    ({ lens, title, path, reason }) => `- ${inline(title)} (${code(path)}, ${lens}): ${REJECTIONS[reason]}`,
  )
  const details =
    room.rejected && items.length > 0
      ? ['', '<details><summary>Show them</summary>', '', ...items, '', '</details>']
      : []
  return ['', `### Rejected (${all.length})`, '', `${sentence}${end}.`, ...details]
}

/** Only strengths that the counts prove. */
function strengths(conclusion: Conclusion, room: Room): string[] {
  const read = lensesThatRead(conclusion.lenses)
  const fixed = conclusion.dispositions.filter(({ verb }) => verb === 'fixed').length
  const clean = read.filter(({ findings, rejected: claims, coverage }) => {
    return findings + claims === 0 && coverage.length > 0 && coverage.every(({ state }) => state === 'full')
  })
  const { files, inFull } = readInFullByAll(conclusion)
  const items = [
    ...(fixed > 0 ? [`- ${counted(fixed, 'earlier finding')} ${fixed === 1 ? 'is' : 'are'} fixed.`] : []),
    ...(clean.length > 0
      ? [`- Nothing found by ${listed(clean.map(({ lens }) => lens))}, in files read in full.`]
      : []),
    ...(files > 0 && files === inFull && read.length === conclusion.lenses.length
      ? [`- Every lens read ${files === 1 ? 'the file' : 'all of its files'} in full.`]
      : []),
  ]
  return !room.strengths || items.length === 0 ? [] : ['', '### Strengths', '', ...items]
}

function coverage(conclusion: Conclusion, room: Room): string[] {
  const unread = unreadFiles(conclusion)
  const leftOut = leftOutFiles(conclusion)
  const files = room.unreadFiles
    ? [
        ...(unread.length > 0 ? ['', 'Not read in full:', '', ...unread] : []),
        ...(leftOut.length > 0 ? ['', 'Given to no lens:', '', ...leftOut] : []),
      ]
    : ['', `Given to no lens: ${counted(conclusion.leftOut.length, 'file')}.`]
  return ['', '### Coverage', '', ...coverageTable(conclusion), ...files, '', adjudicationSentence(conclusion)]
}

/** Facts of the conclusion for programs, without content. */
function machineBlock(conclusion: Conclusion, room: Room): string {
  const { runId, planKey, head, verdict, round, findings } = conclusion
  const { critical, important, suggestions, material } = countsOf(findings)
  const counts = {
    critical,
    important,
    suggestions,
    material,
    rejected: conclusion.rejected.length,
    merged: conclusion.merged,
  }
  const facts = { run: runId, plan: planKey, head, verdict, round, counts }
  const rows = findings.map(({ fingerprint, severity, lens, rule, location }) => ({
    fingerprint,
    severity,
    lens,
    rule,
    location,
  }))
  const whole = hiddenJson('muster:v1 data', { ...facts, findings: rows })
  if (room.machineFindings && byteLength(whole) <= MACHINE_BLOCK_BYTES_MAX) return whole
  return hiddenJson('muster:v1 data', { ...facts, findingsOmitted: rows.length })
}

/** The last resort for too many blocking findings: shorter titles, as many as fit, and a count of the rest. */
function shortest(conclusion: Conclusion, room: Room, shed: readonly string[], bytesMax: number): string {
  const blocking = conclusion.findings.filter(({ severity }) => SEVERITIES[severity].blocking)
  const around = byteLength(render(conclusion, room, shed, []))
  const lines = blocking.map((finding, index) => namedLine(finding, index + 1, NAMED_SHORT))
  const kept: string[] = []
  let bytes = around + SUMMARY_MARKER_BYTES
  for (const line of lines) {
    bytes += byteLength(line) + 1
    if (bytes > bytesMax) break
    kept.push(line)
  }
  const left = lines.length - kept.length
  if (left > 0) kept.push(`- and ${counted(left, 'more blocking finding')} without room in this comment`)
  return render(conclusion, room, shed, kept)
}

function withoutLastBlank(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
