/** The checksum of an upload: the declared value beside the computed value. */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import { S3Error } from './errors.ts'

export interface Digests {
  update(bytes: Buffer): void
  /** Hexadecimal MD5: the ETag. */
  etag(): string
  /** The CRC32 as the value of its header, base64. */
  crc(): string
}

/** The SDK's default checksum for uploads and reads; stored for every object. */
export const checksumHeader = 'x-amz-checksum-crc32'

export function createDigests(): Digests {
  const md5 = createHash('md5')
  let crc = 0
  return {
    update(bytes) {
      crc = crc32(bytes, crc)
      md5.update(bytes)
    },
    etag: () => md5.copy().digest('hex'),
    crc() {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(crc)
      return bytes.toString('base64')
    },
  }
}

/** Refuses with `BadDigest` if the received content differs from the declared digest. */
export function verifyDigests(digests: Digests, headers: IncomingHttpHeaders): void {
  const declared = headers[checksumHeader]
  if (declared === undefined || declared === digests.crc()) return
  throw new S3Error(
    'BadDigest',
    `The ${checksumHeader} you specified did not match what we received. Nothing was stored; send it again.`,
  )
}
