/** The difference of two small texts in the form of `git diff -U3`, from the first hunk header on. */

interface Line {
  readonly sign: ' ' | '-' | '+'
  /** Includes the line feed, unless the text ends without one. */
  readonly text: string
}

export interface TextDiff {
  /** Without the last line feed; null if no line differs. */
  readonly patch: string | null
  readonly additions: number
  readonly deletions: number
}

/** Unchanged lines around a change. */
const CONTEXT_LINES = 3

/** Beyond this number of compared line pairs the diff replaces the whole differing middle. */
const PAIRS_MAX = 1_000_000

/** A hunk header shows the last line before the hunk that begins like this, cut to a number of characters. */
const HEADING = /^[A-Za-z_$]/
const HEADING_CHARACTERS_MAX = 80

export function diffOf(before: string, after: string): TextDiff {
  const [old, young] = [linesOf(before), linesOf(after)]
  const lines = compare(old, young)
  const count = (sign: Line['sign']) => lines.filter((line) => line.sign === sign).length
  const patch = hunksOf(lines)
    .map((hunk) => print(lines, hunk, old))
    .join('')
  return { patch: patch === '' ? null : patch.replace(/\n$/, ''), additions: count('+'), deletions: count('-') }
}

/** The lines with their line feeds. A last line without a line feed differs from the same line with a line feed. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Both texts as one sequence of kept, deleted and added lines. Within a change, deleted lines come first. */
function compare(old: readonly string[], young: readonly string[]): Line[] {
  let start = 0
  while (start < old.length && start < young.length && old[start] === young[start]) start += 1
  let [oldEnd, youngEnd] = [old.length, young.length]
  while (oldEnd > start && youngEnd > start && old[oldEnd - 1] === young[youngEnd - 1]) {
    oldEnd -= 1
    youngEnd -= 1
  }
  const as = (sign: Line['sign'], texts: readonly string[]): Line[] => texts.map((text) => ({ sign, text }))
  return [
    ...as(' ', old.slice(0, start)),
    ...middle(old.slice(start, oldEnd), young.slice(start, youngEnd)),
    ...as(' ', old.slice(oldEnd)),
  ]
}

/** Compares by the longest common subsequence. */
function middle(old: readonly string[], young: readonly string[]): Line[] {
  const width = young.length + 1
  const common = new Uint32Array(old.length * young.length > PAIRS_MAX ? 0 : (old.length + 1) * width)
  const at = (row: number, column: number) => common[row * width + column] ?? 0
  if (common.length > 0) {
    for (let row = old.length - 1; row >= 0; row -= 1) {
      for (let column = young.length - 1; column >= 0; column -= 1) {
        const same = old[row] === young[column]
        common[row * width + column] = same
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
      }
    }
  }
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < young.length) {
    const [gone, come] = [old[row], young[column]]
    if (common.length > 0 && gone !== undefined && gone === come) {
      lines.push({ sign: ' ', text: gone })
      row += 1
      column += 1
    } else if (gone !== undefined && (come === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ sign: '-', text: gone })
      row += 1
    } else if (come !== undefined) {
      lines.push({ sign: '+', text: come })
      column += 1
    }
  }
  return lines
}

interface Hunk {
  readonly from: number
  /** The index after the last line. */
  to: number
}

/** Changes with their context; changes with touching contexts form one hunk. */
function hunksOf(lines: readonly Line[]): Hunk[] {
  const hunks: Hunk[] = []
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    const last = hunks.at(-1)
    const to = Math.min(lines.length, index + 1 + CONTEXT_LINES)
    if (last !== undefined && index - CONTEXT_LINES <= last.to) last.to = to
    else hunks.push({ from: Math.max(0, index - CONTEXT_LINES), to })
  }
  return hunks
}

function print(lines: readonly Line[], { from, to }: Hunk, old: readonly string[]): string {
  const shown = lines.slice(from, to)
  const countOf = (part: readonly Line[], without: Line['sign']) => part.filter(({ sign }) => sign !== without).length
  const before = lines.slice(0, from)
  const range = (without: Line['sign']) => {
    const [above, count] = [countOf(before, without), countOf(shown, without)]
    // Git names an empty range by the line above, and omits a count of one.
    return `${count === 0 ? above : above + 1}${count === 1 ? '' : `,${count}`}`
  }
  const heading = old.slice(0, countOf(before, '+')).findLast((line) => HEADING.test(line))
  const title = heading === undefined ? '' : ` ${heading.slice(0, HEADING_CHARACTERS_MAX).trimEnd()}`
  const body = shown.map(({ sign, text }) =>
    text.endsWith('\n') ? `${sign}${text}` : `${sign}${text}\n\\ No newline at end of file\n`,
  )
  return `@@ -${range('+')} +${range('-')} @@${title}\n${body.join('')}`
}
