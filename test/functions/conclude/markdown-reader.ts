/**
 * Reads Markdown for these tests, by CommonMark's rules and independently of the product: removes code and hidden
 * comments of Muster, so that the rest can be searched for live mark-up.
 */
export function withoutCode(markdown: string): string {
  const kept: string[] = []
  let fence: string | undefined
  for (const line of markdown.split('\n')) {
    if (fence !== undefined) {
      const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
      if (closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length) fence = undefined
      continue
    }
    const opening = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1]
    if (opening !== undefined) fence = opening
    else kept.push(line)
  }
  return withoutSpans(kept.join('\n').replace(OUR_COMMENT, ''))
}

/**
 * A code span goes from a run of back-ticks to the next run of the same length; outside of code a back-slash escapes a
 * back-tick.
 */
function withoutSpans(text: string): string {
  let out = ''
  let at = 0
  while (at < text.length) {
    if (text[at] === '\\') {
      out += text.slice(at, at + 2)
      at += 2
      continue
    }
    if (text[at] !== '`') {
      out += text[at]
      at += 1
      continue
    }
    const run = /^`+/.exec(text.slice(at))?.[0] ?? '`'
    const paragraphEnd = text.indexOf('\n\n', at)
    const rest = text.slice(at + run.length, paragraphEnd < 0 ? undefined : paragraphEnd)
    const closing = [...rest.matchAll(/`+/g)].find(([found]) => found.length === run.length)
    if (closing === undefined) {
      out += run
      at += run.length
    } else {
      out += '▢'
      at += run.length + closing.index + run.length
    }
  }
  return out
}

/** Hidden, on its own line. */
const OUR_COMMENT = /^<!-- muster:v1 (?:data|review|finding) .*-->$/gm
