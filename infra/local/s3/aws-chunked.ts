/**
 * The `aws-chunked` content encoding, by which the SDK sends a checksum after a body that it doesn't know in advance:
 * chunks of `<hex length>[;extension]CRLF<bytes>CRLF`, one of length 0, then trailer lines and an empty line.
 */
import { S3Error } from './errors.ts'

/** Longest line between chunks; a chunk signature has 85 characters, a trailer fewer. */
const lineBytesMax = 8_192

/**
 * Yields the bytes of `source` without their framing, as they arrive. Trailers are put into `trailers` by lower-case
 * name before the last step. A body that ends early or is framed wrongly is `IncompleteBody`.
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  const reader = createReader(source)
  for (;;) {
    const line = await reader.line()
    const length = /^[0-9a-fA-F]{1,8}(?=;|$)/.exec(line)?.[0]
    if (length === undefined) throw malformed(`"${line.slice(0, 40)}" isn't a chunk's length`)
    let left = Number.parseInt(length, 16)
    if (left === 0) break
    while (left > 0) {
      const bytes = await reader.upTo(left)
      left -= bytes.length
      yield bytes
    }
    if ((await reader.line()) !== '') throw malformed('a chunk is longer than its length')
  }
  for (let line = await reader.line(); line !== ''; line = await reader.line()) {
    const colon = line.indexOf(':')
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
}

function createReader(source: AsyncIterable<Buffer>) {
  const iterator = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<Buffer> {
    const next = await iterator.next()
    if (next.done) throw malformed('the body ended within a chunk or its trailers')
    return next.value
  }

  return {
    /** Some bytes, at least one and at most `most`. */
    async upTo(most: number): Promise<Buffer> {
      while (held.length === 0) held = await more()
      const bytes = held.subarray(0, most)
      held = held.subarray(bytes.length)
      return bytes
    },
    /** The next line, without its CRLF. */
    async line(): Promise<string> {
      for (;;) {
        const end = held.indexOf('\r\n')
        if (end >= 0) {
          const line = held.toString('latin1', 0, end)
          held = held.subarray(end + 2)
          return line
        }
        if (held.length > lineBytesMax) throw malformed('a line between chunks is too long')
        held = Buffer.concat([held, await more()])
      }
    },
  }
}

const malformed = (reason: string): S3Error =>
  new S3Error('IncompleteBody', `The aws-chunked body is malformed: ${reason}. Send it again, through an AWS SDK.`)
