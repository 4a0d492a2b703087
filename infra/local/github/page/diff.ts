/** One file's diff as a table, with each comment below its line. */
import type { PatchLine } from '../patch.ts'
import type { ReviewComment } from '../records.ts'
import { escapeHtml } from './markdown.ts'

/** The number of lines of a file on the page: the page is for reading, not for completeness. */
const LINES_SHOWN_MAX = 2_000

/** `say` renders a comment; the table shows the comment below its last line. */
export function diffTable(
  lines: readonly PatchLine[],
  comments: readonly ReviewComment[],
  say: (comment: ReviewComment) => string,
): string {
  const rows = lines.slice(0, LINES_SHOWN_MAX).map((line) => {
    const marked = comments.some((comment) => covers(comment, line))
    const said = comments.filter((comment) => endsAt(comment, line))
    const text = line.kind === 'hunk' || line.kind === 'no_newline' ? line.text : line.text.slice(1)
    const sign = line.kind === 'added' ? '+' : line.kind === 'removed' ? '-' : ' '
    const shown = line.kind === 'hunk' || line.kind === 'no_newline' ? text : `${sign} ${text}`
    const row =
      `<tr class="${line.kind}${marked ? ' marked' : ''}"><td class="n">${line.oldLine ?? ''}</td>` +
      `<td class="n">${line.newLine ?? ''}</td><td>${escapeHtml(shown)}</td></tr>`
    return row + said.map((comment) => `<tr><td class="said" colspan="3">${say(comment)}</td></tr>`).join('')
  })
  const left = lines.length - LINES_SHOWN_MAX
  if (left > 0) rows.push(`<tr class="hunk"><td colspan="3">${left} more lines</td></tr>`)
  return `<table class="diff">${rows.join('')}</table>`
}

function numberOn(side: 'LEFT' | 'RIGHT', line: PatchLine): number | null {
  return side === 'LEFT' ? line.oldLine : line.newLine
}

function endsAt(comment: ReviewComment, line: PatchLine): boolean {
  return numberOn(comment.side, line) === comment.line
}

function covers(comment: ReviewComment, line: PatchLine): boolean {
  const number = numberOn(comment.side, line)
  return number !== null && number >= (comment.startLine ?? comment.line) && number <= comment.line
}
