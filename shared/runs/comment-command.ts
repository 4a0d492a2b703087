/** The grammar of commands in comments: `/muster …` on the first line. Any other comment is ignored (B3, B4). Pure. */

import { FOCUS_BYTES_MAX, UNKNOWN_WORD_CHARS_MAX } from '../base/limits.ts'
import { cutAtBytes, folded, visible, withoutHidden } from '../base/text.ts'

export type CommentCommand =
  | {
      readonly name: 'review'
      /** Lower case; the head must equal the SHA, or begin with it. */
      readonly sha?: string
      /** The subject that the review should examine most. */
      readonly focus?: string
    }
  | { readonly name: 'cancel' | 'retry' | 'resume' | 'status' | 'help' }
  | { readonly name: 'pause'; readonly why: string }
  /** A command of another version, or no command at all. */
  | { readonly name: 'unknown'; readonly word: string }
  /** Hexadecimal, but too short to name a commit. */
  | { readonly name: 'short_sha'; readonly word: string }

/** At the very beginning: a comment in a quote, in a code span or in indented code is addressed to nobody. */
const ADDRESSED = /^\/muster(?=\s|$)/i
const PLAIN_COMMANDS = ['cancel', 'retry', 'resume', 'status', 'help'] as const
const FULL_OR_PREFIX = /^[0-9a-f]{7,64}$/i
/** Shorter than git's minimum of seven; with a letter and a digit, to be neither a word nor a number. */
const TOO_SHORT = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{4,6}$/i

/** True if the comment begins with a command to Muster. */
export function isAddressed(body: string): boolean {
  return ADDRESSED.test(body)
}

/** The command in a comment; undefined for a comment without one. A line end written as `\n` counts as a line end (AD12). */
export function commandIn(body: string): CommentCommand | undefined {
  if (!isAddressed(body)) return undefined
  const text = body.replace(/\\r\\n|\\n/g, '\n').replace(ADDRESSED, '')
  const [, firstLine = '', more = ''] = /^([^\n]*)([\s\S]*)$/.exec(text) ?? []
  const [word = 'help', ...rest] = firstLine.trim().split(/\s+/)
  const name = word.toLowerCase()
  if (name === '' || PLAIN_COMMANDS.some((known) => known === name)) {
    return { name: (name === '' ? 'help' : name) as (typeof PLAIN_COMMANDS)[number] }
  }
  if (name === 'pause') return { name, why: wordsOf(rest.join(' ')) }
  if (name !== 'review') return { name: 'unknown', word: visible(word).slice(0, UNKNOWN_WORD_CHARS_MAX) }
  const [first = ''] = rest
  if (TOO_SHORT.test(first)) return { name: 'short_sha', word: first }
  const sha = FULL_OR_PREFIX.test(first) ? first.toLowerCase() : undefined
  const focus = wordsOf([...(sha === undefined ? rest : rest.slice(1)), more].join(' '))
  return { name, ...(sha === undefined ? {} : { sha }), ...(focus === '' ? {} : { focus }) }
}

function wordsOf(text: string): string {
  return cutAtBytes(folded(visible(withoutHidden(text))), FOCUS_BYTES_MAX).text
}
