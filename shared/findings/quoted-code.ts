/** Whether a finding's quoted code still stands in the diff of a newer head, and where. */
import { type FileChange, type Hunk, lineOn } from './diff.ts'
import type { Finding, Location, Side } from './finding.ts'
import { quoteOf } from './grounding.ts'

export type LinesLocation = Extract<Location, { kind: 'lines' }>
type Quoting = Pick<Finding, 'quote'> & { readonly location: LinesLocation }

export type QuotedCode =
  /** Each range of the diff that holds the quoted code; none for code outside of the diff. */
  { readonly stands: true; readonly locations: readonly LinesLocation[] } | { readonly stands: false }

/**
 * Compares whole lines with their indentation: a new guard around the code changes the code. Code before the change
 * stands while the diff removes some of it. Code outside of the diff stands until the diff removes it.
 */
export function quotedCodeIn(finding: Quoting, file: Pick<FileChange, 'path' | 'hunks'>): QuotedCode {
  const { side, inDiff } = finding.location
  const locations = placesOf(finding, side, file)
  if (locations.length > 0) return { stands: true, locations }
  const wasLeftAlone = side === 'RIGHT' && !inDiff && placesOf(finding, 'LEFT', file).length === 0
  return wasLeftAlone ? { stands: true, locations } : { stands: false }
}

function placesOf(finding: Quoting, side: Side, { path, hunks }: Pick<FileChange, 'path' | 'hunks'>): LinesLocation[] {
  return hunks.flatMap((hunk) =>
    rangesIn(hunk, finding, side).map((range) => ({ kind: 'lines', path, side, ...range, inDiff: true })),
  )
}

function rangesIn(hunk: Hunk, { location, quote }: Quoting, side: Side): Pick<LinesLocation, 'startLine' | 'line'>[] {
  const lines = hunk.lines.filter((line) => lineOn(line, side) !== undefined)
  const count = location.line - location.startLine + 1
  const wanted = withoutReturns(quote)
  const isLiteral = wanted.split('\n').every((line) => beginningOf(line) === line)
  const beginning = beginningOf(wanted)
  return lines.flatMap((first, at) => {
    const [startLine, rows] = [lineOn(first, side), lines.slice(at, at + count)]
    if (startLine === undefined || rows.length < count || !first.text.startsWith(beginning)) return []
    if (side === 'LEFT' && !rows.some(({ kind }) => kind === 'removed')) return []
    const text = rows.map((row) => row.text).join('\n')
    const isQuoted = withoutReturns(text) === wanted || (!isLiteral && withoutReturns(quoteOf(text).text) === wanted)
    return isQuoted ? [{ startLine, line: startLine + count - 1 }] : []
  })
}

/** The part of a quoted line that is surely the file's own: a replacement has an `&` or a non-ASCII character. */
function beginningOf(text: string): string {
  return /^[\t\x20-\x25\x27-\x7e]*/.exec(text)?.[0] ?? ''
}

/** A file has the same code with other line ends. */
function withoutReturns(text: string): string {
  return text.replace(/\r(?=\n|$)/g, '')
}
