/**
 * Makes text from lenses and authors safe Markdown: paragraphs, lists and code stay, and no other mark-up takes effect.
 * The text mentions no person, links no issue and no address, and holds no marker of Muster (AD4, P4).
 * Code is recognised here and written anew between fences of our own, so that GitHub recognises the same code.
 */
import { codeSpan, fencedBlock, visible, withoutOwnMarkers } from '../../../shared/base/text.ts'

/** Several paragraphs. */
export function prose(text: string): string {
  const lines = safe(text).trim().split('\n')
  const out: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const opening = OPENING_FENCE.exec(line)
    if (opening?.[1] === undefined) {
      // Several empty lines become a single empty line.
      if (line.trim() !== '' || out.at(-1) !== '') out.push(proseLine(line))
      continue
    }
    const closing = closingLineOf(lines, at, opening[1])
    out.push(fencedBlock(lines.slice(at + 1, closing).join('\n'), languageOf(opening[2] ?? '')))
    at = closing
  }
  return out.join('\n')
}

/** A line for a heading or a list item; line ends become blanks. */
export function inline(text: string): string {
  return escapedAtStart(spans(safe(text).replace(/\s+/g, ' ').trim()))
}

/** Any path, name or rule as code. */
export function code(text: string): string {
  return codeSpan(safe(text))
}

/** `1 finding`, `2 findings`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** A commit's SHA, short and as code. */
export function shortSha(sha: string): string {
  return code(sha.slice(0, 7))
}

/** Hidden JSON for programs; no text inside can end the comment. */
export function hiddenJson(name: string, value: unknown): string {
  const json = JSON.stringify(value).replace(/[<>@]|--/g, (found) => HIDDEN_ESCAPES[found] ?? found)
  return `<!-- ${name} ${json} -->`
}

const HIDDEN_ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '@': '\\u0040',
  '--': '\\u002d\\u002d',
}

const OPENING_FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*) *$/
/** A heading from outside becomes a line in bold: all headings are ours. */
const HEADING = /^ {0,3}#{1,6} +(.*?)[ #]*$/
const BULLET = /^( {0,8})[-*+] +(.*)$/
const NUMBERED = /^( {0,8})(\d{1,3})[.)] +(.*)$/
/** GitHub applies, draws or renders blocks of these languages. */
const LIVE_LANGUAGES = new Set(['suggestion', 'mermaid', 'math', 'geojson', 'topojson', 'stl'])

function safe(text: string): string {
  return withoutOwnMarkers(visible(text).replace(/\r\n?/g, '\n'))
}

function languageOf(info: string): string {
  return LIVE_LANGUAGES.has(info.toLowerCase()) ? 'text' : info
}

/** Index of the line that closes the fence opened at `from`; the number of lines if the fence stays open. */
function closingLineOf(lines: readonly string[], from: number, fence: string): number {
  const closes = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},} *$`)
  const closing = lines.findIndex((line, at) => at > from && closes.test(line))
  return closing < 0 ? lines.length : closing
}

function proseLine(line: string): string {
  const heading = HEADING.exec(line)
  if (heading?.[1] !== undefined) return `**${spans(heading[1])}**`
  const bullet = BULLET.exec(line)
  if (bullet?.[2] !== undefined) return `${bullet[1]}- ${escapedAtStart(spans(bullet[2]))}`
  const numbered = NUMBERED.exec(line)
  if (numbered?.[3] !== undefined) return `${numbered[1]}${numbered[2]}. ${escapedAtStart(spans(numbered[3]))}`
  return escapedAtStart(spans(line.trim()))
}

/**
 * Finds pieces of a line that stay or become code: code spans, addresses, mentions and references. As code an address
 * is readable and dead. The order of the alternatives matters: an address may hold a mention. Every repetition is
 * bounded, so that the time is linear for any text.
 */
const SPANS = new RegExp(
  [
    '(?<code>`+)(?<content>[^`](?:.{0,2000}?[^`])?)\\k<code>(?!`)',
    '(?<address>(?:[a-z][a-z0-9+.-]{0,20}://|www\\.|mailto:)[^\\s<>`]{0,2000}[^\\s<>`.,;:!?\'")\\]])',
    '(?<mention>[\\w.+/-]{0,100}@\\w(?:[\\w.@/-]{0,200}\\w)?)',
    '(?<reference>(?:[\\w.-]{1,100}/)?[\\w.-]{0,100}#\\d+|GH-\\d+)',
  ].join('|'),
  'gi',
)

function spans(line: string): string {
  let out = ''
  let from = 0
  const add = (piece: string) => {
    // Without a blank, two adjacent code spans would become a single span with a longer fence.
    out += out.endsWith('`') && piece.startsWith('`') ? ` ${piece}` : piece
  }
  for (const found of line.matchAll(SPANS)) {
    if (found.index > from) add(escaped(line.slice(from, found.index)))
    add(codeSpan(found.groups?.content?.replace(/^ (.*\S.*) $/, '$1') ?? found[0]))
    from = found.index + found[0].length
  }
  if (from < line.length) add(escaped(line.slice(from)))
  return out
}

/** Escapes mark-up that takes effect anywhere in a line. An underscore inside a word has no effect. */
function escaped(text: string): string {
  return text
    .replace(/[\\`*<[\]|~$]/g, (mark) => `\\${mark}`)
    .replace(/(?<!\w)_|_(?!\w)/g, '\\_')
    .replace(/&(?=#?\w+;)/g, '&amp;')
}

/** Escapes mark-up that takes effect at the start of a line only: headings, quotes, lists, rules. */
function escapedAtStart(line: string): string {
  return line.replace(/^([#>+=-])/, '\\$1').replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2')
}
