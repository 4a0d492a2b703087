/** The `aws-chunked` content encoding of a whole body: chunks, each after its length in hex, then trailers. */
import { S3Error } from '../../../../infra/local/s3/errors.ts'

export interface Unchunked {
  readonly content: Buffer
  /** By lower-case name. */
  readonly trailers: ReadonlyMap<string, string>
}

/** Throws `IncompleteBody` for a body that ends early or is framed wrongly. */
export function unchunked(body: Buffer): Unchunked {
  const parts: Buffer[] = []
  let at = 0

  function line(): string {
    const end = body.indexOf('\r\n', at)
    if (end < 0) throw new S3Error('IncompleteBody', 'The aws-chunked body ends within a line.')
    const text = body.toString('latin1', at, end)
    at = end + 2
    return text
  }

  for (let length = Number.parseInt(line(), 16); length !== 0; length = Number.parseInt(line(), 16)) {
    parts.push(body.subarray(at, at + length))
    at += length
    if (line() !== '') throw new S3Error('IncompleteBody', 'A chunk is longer than its length.')
  }
  const trailers = new Map<string, string>()
  for (let trailer = line(); trailer !== ''; trailer = line()) {
    const colon = trailer.indexOf(':')
    trailers.set(trailer.slice(0, colon).trim().toLowerCase(), trailer.slice(colon + 1).trim())
  }
  return { content: Buffer.concat(parts), trailers }
}
