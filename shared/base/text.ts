/**
 * What happens to a text from outside before it is stored, shown, or given to a model: made well-formed and visible,
 * cut to a size on a character boundary, stripped of what a person can't see, and made safe inside Markdown.
 */

export interface CutText {
  readonly text: string
  readonly cut: boolean
}

/** Stands at the end of every text that was cut, so that nobody takes a part for the whole. */
export const CUT_MARK = '… [cut]'

const encoder = new TextEncoder()

/** Size of a text in UTF-8 bytes: the unit of every size limit here. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/**
 * The text as well-formed Unicode with nothing in it that hides or reorders the rest: a lone surrogate becomes U+FFFD,
 * a control character its picture (NUL is ␀), a bidirectional control its code in brackets. Tab and line ends stay.
 * Repeating it changes nothing (RC9).
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(CONTROLS, (control) => pictureOf(control.charCodeAt(0)))
    .replace(BIDI_CONTROLS, (control) => `⟨U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/**
 * At most `bytesMax` UTF-8 bytes of a text, never half a character, ending in `CUT_MARK` if something was left out.
 * Where not even the mark fits, the text is just cut.
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
 * The text without HTML comments and without characters that have no width: what a person sees on GitHub is what a
 * model gets (P6). An unclosed comment hides the rest there, so it does here.
 */
export function withoutHidden(text: string): string {
  return withoutComments(text).replace(INVISIBLE, '')
}

/** The text as a person reads it: visible, and without characters that have no width. */
export function plain(text: string): string {
  return visible(text).replace(INVISIBLE, '')
}

/** The text without its HTML comments; linear also where many are opened and none is closed. */
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

/** All white space as single blanks, none at the ends: how texts are compared when their layout doesn't matter. */
export function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** For sorting, by UTF-16 code units: the order is the same on every machine. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Our own hidden markers inside somebody else's text, made visible and no longer ours (AD4). */
export function withoutOwnMarkers(text: string): string {
  return text.replace(/<!--(?=\s*muster)/gi, '&lt;!--')
}

/** A fenced block of Markdown whose fence the text can't close: it is longer than every run of back-ticks inside. */
export function fencedBlock(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRunOfBackTicks(text) + 1))
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

/** An inline code span that shows the text as it is; line ends become blanks. */
export function codeSpan(text: string): string {
  const line = text.replace(/[\r\n]+/g, ' ')
  const fence = '`'.repeat(longestRunOfBackTicks(line) + 1)
  // CommonMark strips one blank at each end, which is what keeps a back-tick of the text off the fence.
  return /^[` ]|[` ]$/.test(line) || line === '' ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

/**
 * A text for one place in Markdown prose: no mark-up and no HTML takes effect, nobody is mentioned, no issue is linked.
 * Line ends stay.
 */
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

/** Characters that change the order in which the others are shown. */
const BIDI_CONTROLS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g

/** Characters that Unicode says are not shown: zero-width ones, joiners, fillers, variation selectors, tags, bidi. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/** Unicode has pictures for C0 and DEL; C1 has none, so its code is shown. */
function pictureOf(code: number): string {
  if (code === 0x7f) return '␡'
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

function longestRunOfBackTicks(text: string): number {
  let longest = 0
  for (const run of text.matchAll(/`+/g)) longest = Math.max(longest, run[0].length)
  return longest
}
