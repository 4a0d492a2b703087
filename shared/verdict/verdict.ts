/** The verdict of a run, from outcomes and findings. An unread file is never "nothing found". */

import { PATHS_NAMED_MAX } from '../base/limits.ts'
import type { Finding } from '../findings/finding.ts'
import { SEVERITIES } from '../findings/severity.ts'
import type { LensOutcome, Verdict } from './conclusion.ts'

export interface VerdictFacts {
  /** Every active lens of this run, also without a review. */
  readonly lenses: readonly LensOutcome[]
  /** The planned paths of each lens. */
  readonly planned: readonly { readonly lens: string; readonly paths: readonly string[] }[]
  /** Every finding at this head, new or earlier. */
  readonly standing: readonly Pick<Finding, 'severity'>[]
  /** AD5: a diff without a file, or with more files than GitHub lists, was not reviewed. */
  readonly diff: 'readable' | 'empty' | 'too_large'
}

export interface Judgement {
  readonly verdict: Verdict
  /** A sentence for each reason; empty unless the verdict is `incomplete`. */
  readonly incompleteReasons: readonly string[]
}

/** The first that applies: an unread file, a blocking finding, any finding, none. */
export function verdictOf(facts: VerdictFacts): Judgement {
  const incompleteReasons = [...diffReasons(facts), ...lensReasons(facts), ...fileReasons(facts)]
  if (incompleteReasons.length > 0) return { verdict: 'incomplete', incompleteReasons }
  if (facts.standing.some(({ severity }) => SEVERITIES[severity].blocking)) {
    return { verdict: 'changes_requested', incompleteReasons }
  }
  return { verdict: facts.standing.length > 0 ? 'concerns' : 'pass', incompleteReasons }
}

function diffReasons({ diff }: VerdictFacts): string[] {
  if (diff === 'empty') return ['The diff is empty: there was nothing to read.']
  if (diff === 'too_large') return ['The diff has more files than GitHub lists, so some files were not read.']
  return []
}

/** LE13: no lens at all, or a failed lens, is no clean review. */
function lensReasons({ lenses, diff }: VerdictFacts): string[] {
  if (lenses.length === 0 && diff === 'empty') return []
  if (lenses.length === 0) return ['No lens is active, so nothing was read.']
  return lenses
    .filter((outcome) => outcome.state !== 'read')
    .map(({ lens, state, reason, remedy }) => {
      const subject = state === 'failed' ? `The lens ${lens} failed` : `The lens ${lens} did not read`
      return [`${subject}${reason === undefined ? '.' : `: ${ended(reason)}`}`, remedy && ended(remedy)]
        .filter(Boolean)
        .join(' ')
    })
}

/** Files that a lens was to read and has not read in full; a file without a row counts as unread. */
function fileReasons({ lenses, planned }: VerdictFacts): string[] {
  return lenses
    .filter((outcome) => outcome.state === 'read')
    .flatMap((outcome) => {
      const paths = planned.filter(({ lens }) => lens === outcome.lens).flatMap((review) => review.paths)
      const rows = new Map<string, boolean>()
      for (const { path, state } of outcome.coverage) rows.set(path, (rows.get(path) ?? true) && state === 'full')
      const unread = [...new Set([...paths, ...rows.keys()])].filter((path) => rows.get(path) !== true)
      if (unread.length === 0) return []
      const named = unread.slice(0, PATHS_NAMED_MAX).join(', ')
      const more = unread.length > PATHS_NAMED_MAX ? ` and ${unread.length - PATHS_NAMED_MAX} more` : ''
      const files = unread.length === 1 ? '1 file' : `${unread.length} files`
      return [`The lens ${outcome.lens} did not read ${files} in full: ${named}${more}.`]
    })
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
