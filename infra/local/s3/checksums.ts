/** Checksums of an upload: what the sender declared, beside what has arrived. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import { S3Error } from './errors.ts'

export interface Digests {
  update(bytes: Buffer): void
  /** Hexadecimal MD5: the ETag. */
  etag(): string
  /** The value of a checksum header, base64, for each algorithm that was computed. */
  values(): Record<string, string>
}

/** What the SDK computes by default, and asks for when it reads; kept for every object. */
const defaultHeader = 'x-amz-checksum-crc32'

const hashByHeader = new Map([
  ['x-amz-checksum-sha1', 'sha1'],
  ['x-amz-checksum-sha256', 'sha256'],
])

/** Names among the checksum headers that carry no checksum. */
const notChecksums = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type'])

/** Names of the checksum headers that come with, or are announced to come after, the body. Refuses unknown algorithms. */
export function declaredChecksums(headers: IncomingHttpHeaders): string[] {
  const trailers = String(headers['x-amz-trailer'] ?? '').split(',')
  const names = [...Object.keys(headers), ...trailers.map((name) => name.trim().toLowerCase())].filter(
    (name) => name.startsWith('x-amz-checksum-') && !notChecksums.has(name),
  )
  const unknown = names.find((name) => name !== defaultHeader && !hashByHeader.has(name))
  if (unknown === undefined) return names
  throw new S3Error('NotImplemented', `${unknown} isn't computed here. Use CRC32, SHA1 or SHA256.`)
}

/** Computes MD5 and CRC32, and the algorithms of the other headers in `names`. */
export function createDigests(names: readonly string[]): Digests {
  const md5 = createHash('md5')
  const hashes = names.flatMap((name) => {
    const algorithm = hashByHeader.get(name)
    return algorithm === undefined ? [] : [{ name, hash: createHash(algorithm) }]
  })
  let crc = 0
  return {
    update(bytes) {
      crc = crc32(bytes, crc)
      md5.update(bytes)
      for (const { hash } of hashes) hash.update(bytes)
    },
    etag: () => md5.copy().digest('hex'),
    values() {
      const crcBytes = Buffer.alloc(4)
      crcBytes.writeUInt32BE(crc)
      const others = hashes.map(({ name, hash }) => [name, hash.copy().digest('base64')] as const)
      return { [defaultHeader]: crcBytes.toString('base64'), ...Object.fromEntries(others) }
    },
  }
}

/** Refuses with `BadDigest` if what arrived isn't what was declared, by header or by trailer. */
export function verifyDigests(
  digests: Digests,
  names: readonly string[],
  headers: IncomingHttpHeaders,
  trailers: ReadonlyMap<string, string>,
): void {
  const computed = digests.values()
  for (const name of names) {
    const declared = headers[name] ?? trailers.get(name)
    if (declared === undefined)
      throw new S3Error('MalformedTrailerError', `The trailer ${name} was announced and didn't come.`)
    if (declared !== computed[name]) throw badDigest(name)
  }
  const md5 = headers['content-md5']
  if (md5 !== undefined && md5 !== Buffer.from(digests.etag(), 'hex').toString('base64')) throw badDigest('content-md5')
}

const badDigest = (name: string): S3Error =>
  new S3Error(
    'BadDigest',
    `The ${name} you specified did not match what we received. Nothing was stored; send it again.`,
  )
