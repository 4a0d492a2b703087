/**
 * Reads the patch of one file: the lines of each side, and the lines that take a comment. The judgement is the
 * stand-in's own, on purpose not shared with the judged code.
 */
import type { Side } from './records.ts'

export interface PatchLine {
  kind: 'hunk' | 'context' | 'added' | 'removed' | 'no_newline'
  /** As in the patch, with its first character. */
  text: string
  oldLine: number | null
  newLine: number | null
  /** The number of its hunk, from 0. */
  hunk: number
  /** Lines below the first hunk header. */
  position: number
}

export interface LineRange {
  line: number
  side: Side
  startLine: number | null
  startSide: Side | null
}

export type Anchor =
  | { found: true; position: number; diffHunk: string }
  | { found: false; reason: 'line_not_in_diff' | 'start_not_before_end' | 'start_not_in_hunk' }

/** `@@ -5 +5 @@`: an omitted count means 1. */
const HUNK_HEADER = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

export function parsePatch(patch: string): PatchLine[] {
  const lines: PatchLine[] = []
  let oldLine = 0
  let newLine = 0
  let hunk = -1
  for (const [position, text] of patch.split('\n').entries()) {
    const header = HUNK_HEADER.exec(text)
    if (header !== null) {
      oldLine = Number(header[1])
      newLine = Number(header[2])
      hunk += 1
      lines.push({ kind: 'hunk', text, oldLine: null, newLine: null, hunk, position })
    } else if (text.startsWith('+')) {
      lines.push({ kind: 'added', text, oldLine: null, newLine: newLine++, hunk, position })
    } else if (text.startsWith('-')) {
      lines.push({ kind: 'removed', text, oldLine: oldLine++, newLine: null, hunk, position })
    } else if (text.startsWith('\\')) {
      lines.push({ kind: 'no_newline', text, oldLine: null, newLine: null, hunk, position })
    } else {
      lines.push({ kind: 'context', text, oldLine: oldLine++, newLine: newLine++, hunk, position })
    }
  }
  return lines
}

/**
 * The anchor of a comment. GitHub takes the lines of the diff, on the side that shows them; a range must begin above
 * its end and in the same hunk.
 */
export function anchorIn(lines: readonly PatchLine[], range: LineRange): Anchor {
  if (range.startLine !== null && range.startLine >= range.line) return { found: false, reason: 'start_not_before_end' }
  const end = lineAt(lines, range.line, range.side)
  if (end === undefined) return { found: false, reason: 'line_not_in_diff' }
  if (range.startLine !== null) {
    const start = lineAt(lines, range.startLine, range.startSide ?? range.side)
    if (start === undefined || start.hunk !== end.hunk) return { found: false, reason: 'start_not_in_hunk' }
  }
  const shown = lines.filter((line) => line.hunk === end.hunk && line.position <= end.position)
  return { found: true, position: end.position, diffHunk: shown.map((line) => line.text).join('\n') }
}

function lineAt(lines: readonly PatchLine[], number: number, side: Side): PatchLine | undefined {
  return lines.find((line) => (side === 'LEFT' ? line.oldLine : line.newLine) === number)
}
