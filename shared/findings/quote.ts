/** Finds quoted code in one side of a file: exact text before other white space, nearest line first. */
import { REDACTED, redact } from '../base/redaction.ts'
import { folded, plain } from '../base/text.ts'
import { type FileChange, lineOn } from './diff.ts'
import type { Side } from './finding.ts'

interface SideLine {
  /** Without the line feed; a carriage return stays. */
  readonly text: string
  /** The text as a model gets it and quotes are compared: plain, without the carriage return. */
  readonly bare: string
  readonly folded: string
  readonly inDiff: boolean
  /** Changed by the pull request: added on the right, removed on the left. */
  readonly changed: boolean
}

/** The known lines of a side of a file: the diff and, with its text, the whole file. */
export interface SideText {
  /** By line number, ascending. */
  readonly lines: ReadonlyMap<number, SideLine>
  readonly lastLine: number
}

export interface QuotedRange {
  readonly startLine: number
  readonly line: number
}

/** The lines of one side. Where the diff and the text disagree, the diff wins: GitHub anchors comments to the diff. */
export function sideTextOf(file: FileChange, side: Side, text: string | undefined): SideText {
  const lines = new Map<number, SideLine>()
  if (text !== undefined && text !== '') {
    const rows = text.split('\n')
    // A line feed ends the last line; no empty line follows.
    if (rows.at(-1) === '') rows.pop()
    rows.forEach((row, index) => {
      lines.set(index + 1, sideLine(row, false, false))
    })
  }
  for (const hunk of file.hunks) {
    for (const line of hunk.lines) {
      const number = lineOn(line, side)
      if (number === undefined) continue
      lines.set(number, sideLine(line.text, true, line.kind !== 'context'))
    }
  }
  const ascending = text === undefined ? lines : new Map([...lines].sort(([a], [b]) => a - b))
  let lastLine = 0
  for (const number of ascending.keys()) lastLine = Math.max(lastLine, number)
  return { lines: ascending, lastLine }
}

/**
 * Every range with the quote, best first: equal text, then text that holds the quote, then the same with folded white
 * space. Among equals the range nearest to `nearLine` is first; without `nearLine` changed lines come before other
 * lines of the diff, and these before the rest of the file. A quote of several lines may begin and end inside a line. A
 * redacted quote matches its line.
 */
export function candidatesOf(side: SideText, quote: string, nearLine?: number): readonly QuotedRange[] {
  const wanted = wantedOf(quote)
  const matches: Match[] = []
  for (const start of side.lines.keys()) {
    const rows = rowsFrom(side, start, wanted.lines.length)
    const exactness = rows === undefined ? undefined : exactnessOf(rows, wanted)
    if (rows === undefined || exactness === undefined) continue
    matches.push({
      startLine: start,
      line: start + wanted.lines.length - 1,
      exactness,
      distance: nearLine === undefined ? 0 : Math.abs(start - nearLine),
      inDiff: rows.every((row) => row.inDiff),
      changed: rows.some((row) => row.changed),
    })
  }
  return matches.sort(bestFirst).map(({ startLine, line }) => ({ startLine, line }))
}

interface Match extends QuotedRange {
  readonly exactness: number
  readonly distance: number
  readonly inDiff: boolean
  readonly changed: boolean
}

function bestFirst(a: Match, b: Match): number {
  return (
    a.exactness - b.exactness ||
    a.distance - b.distance ||
    Number(b.changed) - Number(a.changed) ||
    Number(b.inDiff) - Number(a.inDiff) ||
    a.startLine - b.startLine
  )
}

function sideLine(text: string, inDiff: boolean, changed: boolean): SideLine {
  const bare = plain(withoutReturn(text))
  return { text, bare, folded: folded(bare), inDiff, changed }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

interface Wanted {
  readonly lines: readonly string[]
  readonly folded: readonly string[]
  readonly redacted: boolean
}

/** The quote's lines without blank lines at the ends. */
function wantedOf(quote: string): Wanted {
  const lines = quote.split('\n').map((line) => plain(withoutReturn(line)))
  while (lines[0]?.trim() === '') lines.shift()
  while (lines.at(-1)?.trim() === '') lines.pop()
  return { lines, folded: lines.map(folded), redacted: quote.includes(REDACTED) }
}

function rowsFrom(side: SideText, start: number, count: number): readonly SideLine[] | undefined {
  const rows: SideLine[] = []
  for (let number = start; number < start + count; number++) {
    const row = side.lines.get(number)
    if (row === undefined) return undefined
    rows.push(row)
  }
  return rows
}

/** 0 is the best; undefined is no match. */
function exactnessOf(rows: readonly SideLine[], wanted: Wanted): number | undefined {
  if (rows.every((row, index) => row.bare === wanted.lines[index])) return 0
  if (holds(rows, wanted.lines, (row) => row.bare)) return 1
  if (rows.every((row, index) => row.folded === wanted.folded[index])) return 2
  if (holds(rows, wanted.folded, (row) => row.folded)) return 3
  if (!wanted.redacted) return undefined
  return holds(rows, wanted.folded, (row) => folded(redact(row.bare))) ? 4 : undefined
}

/** True if the rows hold the wanted lines one below the other, the first up to its end, the last from its start. */
function holds(rows: readonly SideLine[], wanted: readonly string[], textOf: (row: SideLine) => string): boolean {
  const last = wanted.length - 1
  return rows.every((row, index) => {
    const text = textOf(row)
    const line = wanted[index] ?? ''
    if (last === 0) return text.includes(line)
    if (index === 0) return text.endsWith(line)
    return index === last ? text.startsWith(line) : text === line
  })
}
