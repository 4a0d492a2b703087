/**
 * Muster's own Markdown for a terminal: headings, bold and code in colour, paragraphs folded to the width. The Markdown
 * keeps its form here, so a renderer to HTML, as for the pages of the GitHub stand-in, would serve nothing.
 */
import { visible } from '../shared/base/text.ts'
import type { Terminal } from './terminal.ts'

/** Longer lines are hard to read, however wide the terminal is. */
const COLUMNS_MAX = 100

const HEADING = /^(#{1,6}) (.*)$/
/** Line starts; the rest of a folded line is indented by their length. */
const ITEM = /^( *(?:[-*]|\d+[.)]) +)(.*)$/
const SPANS =
  /(?<fence>`+)(?<code>.+?)\k<fence>(?!`)|\*\*(?<bold>.+?)\*\*|<\/?(?:sub|b|i)>|\\(?<escaped>[\\`*_{}[\]()#+\-.!|<>~$])/g

/** The text for the terminal; without colours the text is folded and free of mark-up all the same. */
export function renderMarkdown(markdown: string, terminal: Terminal): string {
  const { colors } = terminal
  const width = Math.min(terminal.columns(), COLUMNS_MAX)
  let fence: string | undefined
  const lines: string[] = []
  for (const line of visible(markdown).split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined
    } else if (fence !== undefined) {
      lines.push(`    ${colors.dim(line)}`)
    } else {
      lines.push(...block(line, width, colors))
    }
  }
  return lines.join('\n')
}

function block(line: string, width: number, colors: Terminal['colors']): string[] {
  const [, marks, title = ''] = HEADING.exec(line) ?? []
  if (marks !== undefined) {
    const text = spans(title, colors)
    return [marks.length <= 2 ? colors.bold(colors.cyan(text)) : colors.bold(text)]
  }
  // A table has one line a row already, and stays aligned only unchanged.
  if (line.startsWith('|')) return [colors.dim(line)]
  const [, lead = '', content = line] = ITEM.exec(line) ?? []
  return folded(content, width - lead.length).map(
    (part, index) => (index === 0 ? lead : ' '.repeat(lead.length)) + spans(part, colors),
  )
}

/** Lines of at most `width` characters where words allow. A code span or a bold passage stays whole. */
function folded(text: string, width: number): string[] {
  const words = text.match(/(?:`+[^`]+`+|\*\*[^*]+\*\*|[^\s`*]|[`*])+/g) ?? ['']
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

function spans(text: string, colors: Terminal['colors']): string {
  return text.replace(SPANS, (_found, ...rest) => {
    const { code, bold, escaped } = rest.at(-1) as { code?: string; bold?: string; escaped?: string }
    if (code !== undefined) return colors.cyan(code.trim())
    if (bold !== undefined) return colors.bold(spans(bold, colors))
    return escaped ?? ''
  })
}
