/** The coverage of a run, in numbers and by name: coverage is part of the verdict (H4). */

import { PATHS_PER_REASON_MAX } from '../../../shared/base/limits.ts'
import type { Coverage } from '../../../shared/findings/coverage.ts'
import type { Conclusion, LensOutcome } from '../../../shared/verdict/conclusion.ts'
import { code, counted, inline } from './markdown.ts'

/** One row for each lens. Terminals show the table too, so the columns are aligned. */
export function coverageTable({ lenses }: Conclusion): string[] {
  const rows = lenses.map((outcome) => {
    const { full, partial, not_read } = filesOf(outcome)
    const model = outcome.model === undefined ? '' : ` (${code(outcome.model).replaceAll('|', '\\|')})`
    const numbers = [full, partial, not_read, outcome.findings, outcome.rejected].map(String)
    return [`${outcome.lens}${model}`, STATES[outcome.state], ...numbers]
  })
  const widths = HEADINGS.map((heading, at) => Math.max(3, heading.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const aligned = (cells: readonly string[]) =>
    line(cells.map((cell, at) => (at < TEXT_COLUMNS ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
  const rule = widths.map((width, at) => (at < TEXT_COLUMNS ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [aligned(HEADINGS), line(rule), ...rows.map(aligned)]
}

const HEADINGS = ['Lens', 'State', 'Read in full', 'In part', 'Not read', 'Findings', 'Rejected']
/** Columns of words; the further columns are numbers. */
const TEXT_COLUMNS = 2

/** Files that were given to a lens and not read in full, by lens and reason. */
export function unreadFiles({ lenses }: Conclusion): string[] {
  return lenses.flatMap((outcome) => {
    const unread = outcome.coverage.filter(({ state }) => state !== 'full')
    return byReason(unread.map((row) => ({ path: row.path, reason: `${outcome.lens}: ${reasonOf(row)}` })))
  })
}

/** Files that were given to no lens, by reason. */
export function leftOutFiles({ leftOut }: Conclusion): string[] {
  return byReason(leftOut)
}

/** `14 files, 12 of them read in full by every lens`. */
export function readInFullByAll({ lenses }: Conclusion): { readonly files: number; readonly inFull: number } {
  const full = new Map<string, boolean>()
  for (const { path, state } of lenses.flatMap(({ coverage }) => coverage)) {
    full.set(path, (full.get(path) ?? true) && state === 'full')
  }
  return { files: full.size, inFull: [...full.values()].filter((isFull) => isFull).length }
}

const STATES: Readonly<Record<LensOutcome['state'], string>> = {
  read: 'read',
  failed: 'failed',
  not_read: 'did not read',
}

/** Files by coverage; a file in several parts counts once, by its least coverage. */
function filesOf({ coverage }: LensOutcome): Record<Coverage['state'], number> {
  const least = new Map<string, Coverage['state']>()
  for (const { path, state } of coverage) {
    const before = least.get(path) ?? 'full'
    least.set(path, RANK[state] > RANK[before] ? state : before)
  }
  const count = (wanted: Coverage['state']) => [...least.values()].filter((state) => state === wanted).length
  return { full: count('full'), partial: count('partial'), not_read: count('not_read') }
}

const RANK: Readonly<Record<Coverage['state'], number>> = { full: 0, partial: 1, not_read: 2 }

function reasonOf({ state, reason }: Coverage): string {
  return reason ?? (state === 'partial' ? 'read in part' : 'not read')
}

function byReason(files: readonly { readonly path: string; readonly reason: string }[]): string[] {
  const paths = new Map<string, string[]>()
  for (const { path, reason } of files) paths.set(reason, [...(paths.get(reason) ?? []), path])
  return [...paths].map(([reason, all]) => {
    const named = all.slice(0, PATHS_PER_REASON_MAX).map(code).join(', ')
    const more = all.length > PATHS_PER_REASON_MAX ? `, and ${all.length - PATHS_PER_REASON_MAX} more` : ''
    return `- ${inline(reason)} (${counted(all.length, 'file')}): ${named}${more}`
  })
}
