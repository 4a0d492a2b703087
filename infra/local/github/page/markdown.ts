/**
 * Shows the Markdown that reviewers write: headings, lists, quotes, code, tables, links, emphasis and folded parts. Not
 * a whole Markdown; what it doesn't know is shown as it was written. Everything is escaped first, then formatted.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]*)/
const LIST_ITEM = /^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$/
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

/** Tags that GitHub lets through and reviewers use; always without attributes. */
const HARMLESS_TAG = /&lt;(\/?)(details|summary|sub|sup|kbd|b|i|em|strong|br)( ?\/?)&gt;/g

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

export function renderMarkdown(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const html: string[] = []
  let prose: string[] = []
  const flush = () => {
    // Comments hide what is meant for machines; GitHub doesn't show them either.
    const visible = prose.join('\n').replaceAll(/<!--[\s\S]*?-->/g, '')
    html.push(...renderBlocks(visible.split('\n')))
    prose = []
  }
  for (let index = 0; index < lines.length; index += 1) {
    const fence = FENCE.exec(lines[index] ?? '')
    if (fence === null) {
      prose.push(lines[index] ?? '')
      continue
    }
    flush()
    const code: string[] = []
    index += 1
    while (index < lines.length && !(lines[index] ?? '').trimStart().startsWith(fence[1] ?? '```')) {
      code.push(lines[index] ?? '')
      index += 1
    }
    html.push(`<pre><code>${escapeHtml(code.join('\n'))}</code></pre>`)
  }
  flush()
  return html.join('\n')
}

function renderBlocks(lines: readonly string[]): string[] {
  const html: string[] = []
  let index = 0
  const takeWhile = (wanted: (line: string) => boolean): string[] => {
    const from = index
    while (index < lines.length && wanted(lines[index] ?? '')) index += 1
    return lines.slice(from, index)
  }
  while (index < lines.length) {
    const line = lines[index] ?? ''
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (line.trim() === '') {
      index += 1
    } else if (heading !== null) {
      const level = Math.min(6, (heading[1] ?? '#').length + 2) // the page itself has levels 1 and 2
      html.push(`<h${level}>${renderInline(heading[2] ?? '')}</h${level}>`)
      index += 1
    } else if (/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line)) {
      html.push('<hr>')
      index += 1
    } else if (/^\s*>/.test(line)) {
      const quoted = takeWhile((next) => /^\s*>/.test(next)).map((next) => next.replace(/^\s*> ?/, ''))
      html.push(`<blockquote>${renderBlocks(quoted).join('\n')}</blockquote>`)
    } else if (LIST_ITEM.test(line)) {
      html.push(renderList(takeWhile((next) => LIST_ITEM.test(next) || /^\s{2,}\S/.test(next))))
    } else if (line.includes('|') && TABLE_RULE.test(lines[index + 1] ?? '')) {
      html.push(renderTable(takeWhile((next) => next.includes('|'))))
    } else {
      const paragraph = takeWhile((next) => next.trim() !== '' && !startsBlock(next))
      if (paragraph.length === 0) paragraph.push(lines[index++] ?? '')
      const text = renderInline(paragraph.join('\n')).replaceAll('\n', '<br>')
      html.push(/^<\/?(details|summary)/.test(text) ? text : `<p>${text}</p>`)
    }
  }
  return html
}

function startsBlock(line: string): boolean {
  return /^(#{1,6}\s|\s*>)/.test(line) || LIST_ITEM.test(line)
}

/** A deeper indentation is a list within the item above; indented text belongs to that item. */
function renderList(lines: readonly string[]): string {
  const indentOf = (line: string) => /^\s*/.exec(line)?.[0].length ?? 0
  const base = indentOf(lines[0] ?? '')
  const ordered = /^\s*\d/.test(lines[0] ?? '')
  const items: { text: string; below: string[] }[] = []
  for (const line of lines) {
    const item = LIST_ITEM.exec(line)
    const current = items.at(-1)
    if (item !== null && indentOf(line) <= base) items.push({ text: item[2] ?? '', below: [] })
    else if (item === null && current !== undefined && current.below.length === 0) current.text += `\n${line.trim()}`
    else current?.below.push(line)
  }
  const html = items.map(({ text, below }) => {
    const task = /^\[([ xX])\]\s+/.exec(text)
    const mark = task === null ? '' : task[1] === ' ' ? '☐ ' : '☑ '
    const content = renderInline(text.slice(task?.[0].length ?? 0)).replaceAll('\n', '<br>')
    return `<li>${mark}${content}${below.length === 0 ? '' : renderList(below)}</li>`
  })
  return ordered ? `<ol>${html.join('')}</ol>` : `<ul>${html.join('')}</ul>`
}

function renderTable(rows: readonly string[]): string {
  const cells = (row: string) =>
    row
      .trim()
      .replace(/^\|/, '')
      .replace(/\|$/, '')
      .split(/(?<!\\)\|/)
  const rowHtml = (row: string, tag: 'td' | 'th') =>
    `<tr>${cells(row)
      .map((cell) => `<${tag}>${renderInline(cell.trim().replaceAll('\\|', '|'))}</${tag}>`)
      .join('')}</tr>`
  const [head = '', , ...body] = rows
  const bodyHtml = body.map((row) => rowHtml(row, 'td')).join('')
  return `<table><thead>${rowHtml(head, 'th')}</thead><tbody>${bodyHtml}</tbody></table>`
}

/** Code spans first: nothing inside them is formatted. */
function renderInline(text: string): string {
  return text
    .split(/(`+[^`](?:.*?[^`])??`+)/s)
    .map((part, index) =>
      index % 2 === 1 ? `<code>${escapeHtml(part.replaceAll(/^`+ ?| ?`+$/g, ''))}</code>` : renderText(part),
    )
    .join('')
}

function renderText(text: string): string {
  return escapeHtml(text)
    .replaceAll(HARMLESS_TAG, '<$1$2>')
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g, '<a href="$2" rel="noopener noreferrer">$1</a>')
    .replaceAll(/\*\*(?=\S)(.+?)(?<=\S)\*\*/gs, '<strong>$1</strong>')
    .replaceAll(/(?<![\w*])[*](?=[^\s*])([^*\n]+?)(?<=\S)[*](?![\w*])/g, '<em>$1</em>')
    .replaceAll(/(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)/g, '<em>$1</em>')
    .replaceAll(/\\([\\`*_{}[\]()#+.!|~-])/g, '$1')
}
