/** The diff of a pull request, file by file, with the line numbers of both sides. */
import type { Side } from './finding.ts'

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'removed'
  /** Without the leading sign and without the line feed; a carriage return stays. */
  readonly text: string
  /** Line number before the change; absent for added lines. */
  readonly oldLine?: number
  /** Line number after the change; absent for removed lines. */
  readonly newLine?: number
  /** True if the file ends here without a line feed (H15). */
  readonly noNewline?: true
}

export interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly DiffLine[]
}

export interface FileChange {
  readonly path: string
  /** The path before a rename or copy (H12). */
  readonly previousPath?: string
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'changed' | 'unchanged'
  readonly additions: number
  readonly deletions: number
  /** Blob at the head, or at the base for a removed file. */
  readonly blob: string
  /** Empty where GitHub sends no patch. */
  readonly hunks: readonly Hunk[]
  /** Why there are no hunks; an absent patch is normal (H11). */
  readonly noPatch?: 'no_patch' | 'pure_rename' | 'unreadable_patch'
}

/** A file in GitHub's "list pull request files", without the unused members. */
export interface ListedFile {
  readonly filename: string
  readonly previous_filename?: string | undefined
  readonly status: string
  readonly additions: number
  readonly deletions: number
  /** Null for a removed submodule. */
  readonly sha: string | null
  readonly patch?: string | undefined
}

/** The hunks of a patch, or the line (from 1) from which the patch is unreadable. */
export type ParsedPatch =
  | { readonly readable: true; readonly hunks: readonly Hunk[] }
  | { readonly readable: false; readonly atLine: number }

/** A range on which GitHub accepts a comment: all lines in one hunk. A single line has `startLine === line` (A3). */
export interface Anchor {
  readonly side: Side
  readonly startLine: number
  readonly line: number
}

/** Never throws: `noPatch` says why a patch can't be read. */
export function fileChangeOf(listed: ListedFile): FileChange {
  const status = STATUSES.find((each) => each === listed.status) ?? 'changed'
  const common = {
    path: listed.filename,
    ...(listed.previous_filename === undefined ? {} : { previousPath: listed.previous_filename }),
    status,
    additions: listed.additions,
    deletions: listed.deletions,
    blob: listed.sha ?? '',
  }
  if (listed.patch === undefined || listed.patch === '') {
    const pure = status === 'renamed' && listed.additions + listed.deletions === 0
    return { ...common, hunks: [], noPatch: pure ? 'pure_rename' : 'no_patch' }
  }
  const parsed = parsePatch(listed.patch)
  return parsed.readable ? { ...common, hunks: parsed.hunks } : { ...common, hunks: [], noPatch: 'unreadable_patch' }
}

/**
 * Reads the hunks of a file in unified form, without the file's own header, as GitHub sends them. The counts of a hunk
 * say which lines belong to it, never their text: `--- a` inside a hunk is a removed line, and an added line may hold
 * `@@`. Only a line feed ends a line: a carriage return is part of the text.
 */
export function parsePatch(patch: string): ParsedPatch {
  const lines = patch.split('\n')
  const hunks: Hunk[] = []
  let at = 0
  // The text after the last line feed is no line, unless a hunk still counts on it.
  while (at < lines.length && !(at === lines.length - 1 && lines[at] === '')) {
    const header = headerOf(lines[at] ?? '')
    const before = hunks.at(-1)
    if (header === undefined || (before !== undefined && !follows(before, header))) {
      return { readable: false, atLine: at + 1 }
    }
    const body = bodyOf(header, lines, at + 1)
    if ('brokenAt' in body) return { readable: false, atLine: body.brokenAt + 1 }
    hunks.push({ ...header, lines: body.lines })
    at = body.next
  }
  return { readable: true, hunks }
}

/** Number of a line on a side; undefined for a line of the other side only. */
export function lineOn(line: DiffLine, side: Side): number | undefined {
  return side === 'LEFT' ? line.oldLine : line.newLine
}

/** Lines of diff in a file, for the budget of a part. */
export function diffLinesOf(file: FileChange): number {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
}

/**
 * The part of a range on which GitHub accepts a comment: clipped to the hunk with most of its lines, the first of
 * equals (A1, A2); undefined if the diff shows no line of the range on that side.
 */
export function anchorInDiff(file: FileChange, side: Side, startLine: number, line: number): Anchor | undefined {
  let best: Anchor | undefined
  for (const hunk of file.hunks) {
    const [start, count] = side === 'LEFT' ? [hunk.oldStart, hunk.oldLines] : [hunk.newStart, hunk.newLines]
    const from = Math.max(startLine, start)
    const to = Math.min(line, start + count - 1)
    if (from > to) continue
    if (best === undefined || to - from > best.line - best.startLine) best = { side, startLine: from, line: to }
  }
  return best
}

const STATUSES = ['added', 'modified', 'removed', 'renamed', 'copied', 'changed', 'unchanged'] as const

type Header = Omit<Hunk, 'lines'>

/** An omitted count means 1 (A14). Git can't number lines with more than nine digits. */
const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/

function headerOf(line: string): Header | undefined {
  const match = HEADER.exec(line)
  if (match === null) return undefined
  return {
    oldStart: Number(match[1]),
    oldLines: Number(match[2] ?? 1),
    newStart: Number(match[3]),
    newLines: Number(match[4] ?? 1),
  }
}

/** Hunks of a file come in order and don't overlap; otherwise a line would have two numbers. */
function follows(before: Header, header: Header): boolean {
  return (
    firstLine(header.oldStart, header.oldLines) >= before.oldStart + before.oldLines &&
    firstLine(header.newStart, header.newLines) >= before.newStart + before.newLines
  )
}

/** With a count of 0 a header names the line before. */
function firstLine(start: number, count: number): number {
  return count === 0 ? start + 1 : start
}

type Body = { readonly lines: readonly DiffLine[]; readonly next: number } | { readonly brokenAt: number }

/** Takes lines from `at` until both counts are used up, then the note about a missing line feed. */
function bodyOf(header: Header, patch: readonly string[], at: number): Body {
  const lines: DiffLine[] = []
  const oldEnd = header.oldStart + header.oldLines
  const newEnd = header.newStart + header.newLines
  let oldLine = header.oldStart
  let newLine = header.newStart
  let next = at
  for (; next < patch.length; next++) {
    const raw = patch[next] ?? ''
    if (raw.startsWith('\\')) {
      const last = lines.pop()
      if (last === undefined) return { brokenAt: next }
      lines.push({ ...last, noNewline: true })
      continue
    }
    if (oldLine === oldEnd && newLine === newEnd) break
    const text = /^[ +-]/.test(raw) ? raw.slice(1) : raw
    if (raw.startsWith('+') && newLine < newEnd) {
      lines.push({ kind: 'added', text, newLine: newLine++ })
    } else if (raw.startsWith('-') && oldLine < oldEnd) {
      lines.push({ kind: 'removed', text, oldLine: oldLine++ })
    } else if (isContext(raw) && oldLine < oldEnd && newLine < newEnd) {
      lines.push({ kind: 'context', text, oldLine: oldLine++, newLine: newLine++ })
    } else {
      return { brokenAt: next }
    }
  }
  return oldLine === oldEnd && newLine === newEnd ? { lines, next } : { brokenAt: next }
}

/** Some tools strip the blank of an empty context line. */
function isContext(raw: string): boolean {
  return raw.startsWith(' ') || raw === '' || raw === '\r'
}
