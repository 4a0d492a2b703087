/** The check run of a head: red, neutral or green, its title the counts, its annotations the findings with lines. */
import type { Conclusion } from '../../shared/conclusion.ts'
import type { Finding } from '../../shared/finding.ts'
import { ANNOTATIONS_MAX, CHECK_TITLE_CHARS_MAX, GITHUB_BODY_BYTES_MAX } from '../../shared/limits.ts'
import { SEVERITIES } from '../../shared/severity.ts'
import type { Annotation, CheckConclusion, CheckRunResource } from '../../shared/shown.ts'
import { cutAtBytes, visible } from '../../shared/text.ts'
import { code, prose } from './markdown.ts'
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

/** What a check run is about, also before there is a conclusion. */
export interface HeadPlace {
  readonly repository: { readonly id: number }
  readonly number: number
  readonly head: string
}

export interface InProgress extends HeadPlace {
  readonly kind: 'in_progress'
}

/** A run that ended without a conclusion. */
export interface Ended extends HeadPlace {
  readonly kind: 'ended'
  /** `failed` is neutral, never red or green (PR3); the others are cancelled. */
  readonly because: 'superseded' | 'cancelled' | 'closed' | 'withdrawn' | 'failed'
  /** Why, a sentence for people. */
  readonly sentence: string
  readonly remedy?: string
}

export const CHECK_RUN_NAME = 'Muster'

/** An annotation's message, bytes: GitHub takes 64 KB. */
const ANNOTATION_BYTES_MAX = 16_384

/** Identity of a head's check run: the same for every run on that head (DESIGN §9). */
export function externalIdOf({ repository, number, head }: HeadPlace): string {
  return `muster:v1:${repository.id}:${number}:${head}`
}

/** The check run of a head in any state. An ended run's check run is always completed. */
export function checkRunOf(subject: Conclusion | InProgress | Ended): CheckRunResource {
  const common = {
    kind: 'check_run',
    head: subject.head,
    externalId: externalIdOf(subject),
    name: CHECK_RUN_NAME,
  } as const
  switch (subject.kind) {
    case 'in_progress':
      return { ...common, status: 'in_progress', ...IN_PROGRESS, text: '', annotations: [] }
    case 'ended':
      return { ...common, status: 'completed', ...endedOutput(subject), text: '', annotations: [] }
    default:
      return {
        ...common,
        status: 'completed',
        conclusion: conclusionOf(subject),
        title: titleOf(subject),
        summary: `**Next:** ${actionOf(subject)}\n\n${closingOf(subject)}`,
        text: summaryOf(subject).body,
        annotations: annotationsOf(subject.findings),
      }
  }
}

const IN_PROGRESS = { title: 'Reading', summary: 'The lenses are reading this head. Nothing is known yet.' }

const ENDED_TITLES: Readonly<Record<Ended['because'], string>> = {
  superseded: 'Superseded by a newer head',
  cancelled: 'Cancelled',
  closed: 'The pull request was closed',
  withdrawn: 'Withdrawn',
  failed: 'Not reviewed: the run failed',
}

function endedOutput({ because, head, sentence, remedy }: Ended) {
  const conclusion: CheckConclusion = because === 'failed' ? 'neutral' : 'cancelled'
  const why = [sentence, remedy].filter((part) => part !== undefined).map(prose)
  const summary = [...why, `Nothing is said about ${code(head)}.`].join('\n\n')
  return { conclusion, title: ENDED_TITLES[because], summary: cutAtBytes(summary, GITHUB_BODY_BYTES_MAX).text }
}

/** DESIGN §6. After the last round a push is never green: action required with material findings open, else neutral. */
function conclusionOf(conclusion: Conclusion): CheckConclusion {
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
  const title = `${prefix}${counts}; ${lenses}`
  return (title.charAt(0).toUpperCase() + title.slice(1)).slice(0, CHECK_TITLE_CHARS_MAX)
}

/** Findings with lines in the file as it is at the head; GitHub can't annotate what was removed. Plain text. */
function annotationsOf(findings: readonly Finding[]): Annotation[] {
  const annotated = findings.filter(({ place }) => place.kind === 'lines' && place.side === 'RIGHT')
  return annotated.slice(0, ANNOTATIONS_MAX).flatMap((finding): Annotation[] => {
    const { place } = finding
    if (place.kind !== 'lines') return []
    const { blocking, material } = SEVERITIES[finding.severity]
    const message = visible(`${finding.why}\n\nTo clear it: ${finding.clears}`)
    return [
      {
        path: place.path,
        startLine: place.startLine,
        endLine: place.line,
        level: blocking ? 'failure' : material ? 'warning' : 'notice',
        title: titleWithin(`${severityWord(finding)}: ${visible(finding.title).replace(/\s+/g, ' ')}`),
        message: cutAtBytes(message, ANNOTATION_BYTES_MAX).text,
      },
    ]
  })
}

function titleWithin(title: string): string {
  return cutAtBytes(title, CHECK_TITLE_CHARS_MAX).text
}
