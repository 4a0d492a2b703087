/**
 * Handles texts from outside before they are stored, shown, or given to a model: makes them well-formed and visible,
 * cuts them between characters, removes invisible content, and makes them safe inside Markdown.
 */

export interface CutText {
  readonly text: string
  readonly cut: boolean
}

/** The end of every cut text, so that no reader takes a part for the whole. */
export const CUT_MARK = '… [cut]'

const encoder = new TextEncoder()

/** Size of a text in UTF-8 bytes: the unit of every size limit here. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/**
 * Well-formed Unicode in which no character hides or reorders others: a lone surrogate becomes U+FFFD, a control
 * character its picture (NUL is ␀), a bidirectional control its code in brackets. Tab and line ends stay. A second call
 * changes nothing (RC9).
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(CONTROLS, (control) => pictureOf(control.charCodeAt(0)))
    .replace(BIDI_CONTROLS, (control) => bracketed(control.charCodeAt(0)))
}

/**
 * At most `bytesMax` UTF-8 bytes, never half a character, with `CUT_MARK` at the end of a cut text. A limit below the
 * mark's size leaves the mark out.
 */
export function cutAtBytes(text: string, bytesMax: number): CutText {
  // Every UTF-16 code unit takes at least one byte and at most three: most texts need no encoding to be measured.
  if (text.length * 3 <= bytesMax) return { text, cut: false }
  if (text.length <= bytesMax && byteLength(text) <= bytesMax) return { text, cut: false }
  const mark = byteLength(CUT_MARK) <= bytesMax ? CUT_MARK : ''
  const room = new Uint8Array(Math.max(0, bytesMax - byteLength(mark)))
  const { read } = encoder.encodeInto(text, room)
  return { text: text.slice(0, read) + mark, cut: true }
}

/**
 * The text without HTML comments and characters without width: a model gets only text that a person sees on GitHub
 * (P6). As on GitHub, an unclosed comment hides the rest.
 */
export function withoutHidden(text: string): string {
  return withoutComments(text).replace(INVISIBLE, '')
}

/** The text as a person reads it: visible, and without characters of no width. */
export function plain(text: string): string {
  return visible(text).replace(INVISIBLE, '')
}

/** The text without its HTML comments; linear also for many unclosed comments. */
export function withoutComments(text: string): string {
  let kept = ''
  let from = 0
  for (;;) {
    const open = text.indexOf('<!--', from)
    if (open < 0) return kept + text.slice(from)
    kept += text.slice(from, open)
    const close = text.indexOf('-->', open + '<!--'.length)
    if (close < 0) return kept
    from = close + '-->'.length
  }
}

/** White space as single blanks, none at the ends: the form for comparing texts with different layout. */
export function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** With the first letter in upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** For sorting, by UTF-16 code units: the order is the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Makes markers of Muster inside outside text visible and invalid (AD4). */
export function withoutOwnMarkers(text: string): string {
  return text.replace(/<!--(?=\s*muster)/gi, '&lt;!--')
}

/** A fenced block of Markdown. Its fence is longer than every run of back-ticks in the text, which can't close it. */
export function fencedBlock(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRunOfBackTicks(text) + 1))
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** An inline code span with the text unchanged, except that line ends become blanks. */
export function codeSpan(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ')
  const fence = '`'.repeat(longestRunOfBackTicks(line) + 1)
  // CommonMark strips one blank at each end: the blank keeps a back-tick of the text off the fence.
  return /^[` ]|[` ]$/.test(line) || line === '' ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

/** For Markdown prose: no mark-up or HTML takes effect, no person is mentioned, no issue linked. Line ends stay. */
export function escapedMarkdown(text: string): string {
  return text
    .replace(/[\\`*_{}[\]()<>#|~!&]/g, (mark) => `\\${mark}`)
    .replace(/^(\s{0,3})([-+=]|\d{1,9}[.)])/gm, (_, indent: string, mark: string) =>
      mark.length === 1 ? `${indent}\\${mark}` : `${indent}${mark.slice(0, -1)}\\${mark.slice(-1)}`,
    )
    .replace(/@(?=[\p{L}\p{N}])/gu, `@${WORD_JOINER}`)
    .replace(/#(?=\d)/g, `#${WORD_JOINER}`)
}

/** GitHub looks for mentions and issue numbers after rendering; a character between sign and name ends the search. */
const WORD_JOINER = '\u2060'

/** C0 without tab, line feed and carriage return; DEL; C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g

/** Characters that change the order of shown characters. */
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** Invisible by Unicode's definition: zero-width characters, joiners, fillers, variation selectors, tags, bidi. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Unicode has pictures for C0 and DEL, not for C1: a C1 character becomes its code. */
function pictureOf(code: number): string {
  if (code === 0x7f) return '␡'
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : bracketed(code)
}

function bracketed(code: number): string {
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

function longestRunOfBackTicks(text: string): number {
  let longest = 0
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length)
  return longest
}
