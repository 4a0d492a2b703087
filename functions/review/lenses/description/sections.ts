/** The sections of a description or of a template: Markdown split at its headings. */
import { folded, withoutComments } from '../../../../shared/base/text.ts'

export interface Section {
  /** As written, without mark-up. */
  readonly heading: string
  /** The form in which headings are compared: no case, no colon, no emoji. Never empty. */
  readonly key: string
  /** Lines with content, folded, including sections below; without headings. */
  readonly lines: readonly string[]
  /** True if the section holds only sections below. */
  readonly onlySections: boolean
}

/**
 * The sections of a Markdown text in order. HTML comments are no content. A heading has number signs or is underlined;
 * with `bold`, a line all in bold is a heading too. A code fence holds no headings.
 */
export function sectionsOf(markdown: string, { bold = false } = {}): readonly Section[] {
  const open: Building[] = []
  const sections: Building[] = []
  for (const block of blocksOf(withoutComments(markdown), bold)) {
    // A line in bold may also be content of the section above.
    const isContent = block.level === undefined || block.level === BOLD_LEVEL
    if (isContent && block.line !== '') for (const section of open) section.lines.push(block.line)
    if (block.level === undefined) {
      const innermost = open.at(-1)
      if (block.line !== '' && innermost !== undefined) innermost.onlySections = false
      continue
    }
    while ((open.at(-1)?.level ?? 0) >= block.level) open.pop()
    const heading = withoutMarkUp(block.text)
    const key = keyOf(heading)
    if (key === '') continue
    const section = { level: block.level, heading, key, lines: [], onlySections: true, sections: 0 }
    for (const parent of open) parent.sections++
    open.push(section)
    sections.push(section)
  }
  return sections.map(({ heading, key, lines, onlySections, sections: below }) => ({
    heading,
    key,
    lines,
    onlySections: onlySections && below > 0,
  }))
}

interface Building extends Pick<Section, 'heading' | 'key'> {
  readonly level: number
  readonly lines: string[]
  onlySections: boolean
  /** Number of sections below. */
  sections: number
}

/** A heading with its level, or a line of content. */
interface Block {
  readonly level?: number
  /** A heading without its number signs or underline. */
  readonly text: string
  /** The whole line, folded. */
  readonly line: string
}

/** A line in bold is below every heading. */
const BOLD_LEVEL = 7

function* blocksOf(markdown: string, bold: boolean): Generator<Block> {
  const lines = markdown.split(/\r?\n/)
  let fence: string | undefined
  for (let at = 0; at < lines.length; at++) {
    const raw = lines[at] ?? ''
    const line = folded(raw)
    const mark = FENCE.exec(raw)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined
      yield { text: line, line }
      continue
    }
    const heading = fence === undefined ? headingAt(raw, lines[at + 1] ?? '', bold) : undefined
    if (heading === undefined) yield { text: line, line }
    else {
      yield { level: heading.level, text: heading.text, line }
      if (heading.underlined) at++
    }
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const NUMBER_SIGNS = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const BOLD = /^ {0,3}(?:\*\*|__)([^*_]+)(?:\*\*|__):?\s*$/
const UNDERLINE = /^ {0,3}(=+|-+)\s*$/
/** Text that an underline makes a heading: no list, no quote, no table. */
const PARAGRAPH = /^ {0,3}[^\s>*+|-]/

function headingAt(line: string, next: string, bold: boolean) {
  const signs = NUMBER_SIGNS.exec(line)
  if (signs !== null) {
    return { level: signs[1]?.length ?? 1, text: (signs[2] ?? '').replace(/[ \t]#+[ \t]*$/, ''), underlined: false }
  }
  const inBold = bold ? BOLD.exec(line)?.[1] : undefined
  if (inBold !== undefined) return { level: BOLD_LEVEL, text: inBold, underlined: false }
  const underline = PARAGRAPH.test(line) ? UNDERLINE.exec(next)?.[1] : undefined
  return underline === undefined
    ? undefined
    : { level: underline.startsWith('=') ? 1 : 2, text: line, underlined: true }
}

function withoutMarkUp(text: string): string {
  return folded(
    text
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/:[a-z0-9_+-]+:/g, ' ')
      .replace(/[*_`]/g, ''),
  )
}

function keyOf(heading: string): string {
  return folded(
    heading
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' '),
  )
}
