/** A review as sent: with its digest, and with refused inline comments in its body. Pure. */
import { digestOf } from '../base/digest.ts'
import { GITHUB_BODY_BYTES_MAX } from '../base/limits.ts'
import { byteLength, codeSpan } from '../base/text.ts'
import { type InlineComment, markerOf, type ReviewMessage } from './github-payloads.ts'
import { type Range, sizeOf } from './inline-bisection.ts'

/** `payload` is the line with the digest: a pending review with the same line is this version, not an older message. */
export interface Version {
  readonly payload: string
  readonly body: string
  readonly comments: readonly InlineComment[]
}

/** The message with the inline comments of `inBody` in its body. */
export function versionOf(message: ReviewMessage, inBody: Range): Version {
  const { head } = message
  const { body, comments } = sizeOf(inBody) === 0 ? message : withInBody(message, inBody)
  const payload = markerOf.payload(digestOf({ head, body, comments: comments.map((comment) => ({ ...comment })) }))
  return { payload, body: `${body}\n${payload}`, comments }
}

/** A marker counts only as a line of its own: a marker quoted inside other text is not ours (AD4). */
export function hasLine(body: string, line: string): boolean {
  return body.split(/\r?\n/).includes(line)
}

/** Moves the comments into the body, in full as far as the limit goes, and counts the rest. */
function withInBody(message: ReviewMessage, inBody: Range): Pick<ReviewMessage, 'body' | 'comments'> {
  const { body, marker } = message
  const moved = message.comments.slice(inBody.from, inBody.to)
  const spoken = body.split('\n').filter((line) => line !== marker)
  const ending = (left: number) =>
    left === 0
      ? [marker]
      : [`${left} more did not fit here and ${left === 1 ? 'stands' : 'stand'} in the summary.`, '', marker]

  const parts = [...spoken, '', introOf(moved.length, message.comments.length), '']
  const bytesOf = (lines: readonly string[]) => byteLength(lines.join('\n'))
  // Has the length of the payload's line, which is added later.
  const reserved = byteLength(markerOf.payload('0'.repeat(64))) + bytesOf(ending(moved.length)) + 2
  let size = bytesOf(parts)
  let taken = 0
  for (const { path, line, body: said } of moved) {
    const part = ['---', '', `${codeSpan(path)}, line ${line}`, '', said, '']
    size += bytesOf(part) + 1
    if (size + reserved > GITHUB_BODY_BYTES_MAX) break
    parts.push(...part)
    taken += 1
  }
  return {
    body: [...parts, ...ending(moved.length - taken)].join('\n'),
    comments: message.comments.filter((_, position) => position < inBody.from || position >= inBody.to),
  }
}

function introOf(moved: number, all: number): string {
  const which =
    moved < all
      ? `${moved} of the ${all} inline comments`
      : all === 1
        ? 'the inline comment'
        : `the ${all} inline comments`
  return `GitHub did not accept ${which} of this review; what ${moved === 1 ? 'it says' : 'they say'} stands here.`
}
