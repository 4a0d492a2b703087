/** Markdown on a terminal: readable without its mark-up, and without power over the terminal. */
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderMarkdown } from '../../cli/terminal-markdown.ts'
import { openScreen } from './screen.ts'

const plain = (markdown: string, columns = 60) =>
  renderMarkdown(markdown, openScreen(columns, { NO_COLOR: '1' }).terminal)

test('headings, bold, code and escapes are shown without their marks', () => {
  expect(plain('## Muster: *x*\n\n**Next:** look at `a**b`, and at \\*this\\*. <sub>small</sub>')).toBe(
    'Muster: *x*\n\nNext: look at a**b, and at *this*. small',
  )
})

test('long lines are folded between words, list items under their text; tables and code stay as they are', () => {
  const words = 'word '.repeat(20).trim()
  const folded = plain(
    `- ${words}\n\n| ${'cell '.repeat(20)}|\n\n\`\`\`js\n${'code '.repeat(20)}\n# no heading\n\`\`\``,
  )
  const lines = folded.split('\n')
  expect(lines.slice(0, 2)).toEqual([`- ${'word '.repeat(11).trim()}`, `  ${'word '.repeat(9).trim()}`])
  expect(lines).toContain(`| ${'cell '.repeat(20)}|`)
  expect(lines).toContain(`    ${'code '.repeat(20)}`)
  expect(lines).toContain('    # no heading')
})

test('with colours the text is the same', () => {
  const markdown = '## Title\n\n1. **Bold** and `code`\n2. more'
  const coloured = renderMarkdown(markdown, openScreen(60).terminal)
  expect(coloured).toContain('\u001b[1m')
  expect(stripVTControlCharacters(coloured)).toBe(plain(markdown))
})

test('no text can move the cursor or change the terminal', () => {
  expect(plain('a\u001b]0;title\u0007b\u001b[2J')).toBe('a␛]0;title␇b␛[2J')
})
