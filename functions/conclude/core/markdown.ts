/**
 * Text from lenses and authors as Markdown that means only what we let it mean: paragraphs, lists and code stay, and
 * nothing else takes effect. Nobody is mentioned, no issue is linked, no address is live, no marker is ours (AD4, P4).
 *
 * What is code is decided here and then written anew with fences of our own, so that GitHub can't see it differently.
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
      // Several empty lines say no more than one.
      if (line.trim() !== '' || out.at(-1) !== '') out.push(proseLine(line))
      continue
    }
    const closing = closingLineOf(lines, at, opening[1])
    out.push(fencedBlock(lines.slice(at + 1, closing).join('\n'), languageOf(opening[2] ?? '')))
    at = closing
  }
  return out.join('\n')
}

/** One line, for a heading or a list item; line ends become blanks. */
export function inline(text: string): string {
  return escapedAtStart(spans(safe(text).replace(/\s+/g, ' ').trim()))
}

/** A path, a name, a rule: as it is, whatever is in it. */
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

/** A commit as people read it. */
export function shortSha(sha: string): string {
  return code(sha.slice(0, 7))
}

/** Hidden JSON for programs; no text inside it can end the comment. */
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
/** A heading of somebody else's text is a line in bold: ours are the only headings. */
const HEADING = /^ {0,3}#{1,6} +(.*?)[ #]*$/
const BULLET = /^( {0,8})[-*+] +(.*)$/
const NUMBERED = /^( {0,8})(\d{1,3})[.)] +(.*)$/
/** What GitHub does more with than show it: apply it, draw it, render it. */
const LIVE_LANGUAGES = new Set(['suggestion', 'mermaid', 'math', 'geojson', 'topojson', 'stl'])

function safe(text: string): string {
  return withoutOwnMarkers(visible(text).replace(/\r\n?/g, '\n'))
}

function languageOf(info: string): string {
  return LIVE_LANGUAGES.has(info.toLowerCase()) ? 'text' : info
}

/** The line that closes the fence opened at `from`; behind the last line if none does. */
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
 * What stays or becomes code within a line: code spans; addresses, mentions and references, which are readable so and
 * do nothing. Alternatives in this order: an address may hold the others. Every repetition is bounded, so that the time is
 * linear whoever wrote the text.
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
    // Two code spans that touch would be read as one with another fence.
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

/** Mark-up that would take effect anywhere in a line. An underscore inside a word has none. */
function escaped(text: string): string {
  return text
    .replace(/[\\`*<[\]|~$]/g, (mark) => `\\${mark}`)
    .replace(/(?<!\w)_|_(?!\w)/g, '\\_')
    .replace(/&(?=#?\w+;)/g, '&amp;')
}

/** Mark-up that takes effect at the start of a line only: headings, quotes, lists, rules. */
function escapedAtStart(line: string): string {
  return line.replace(/^([#>+=-])/, '\\$1').replace(/^(\d{1,9})([.)])(?= |$)/, '$1\\$2')
}
