/** Reads a request to S3: the object's address, and whether the service serves the request at all. */
import type { IncomingMessage } from 'node:http'
import { checksumHeader } from './checksums.ts'
import { S3Error } from './errors.ts'

export interface ObjectAddress {
  readonly bucket: string
  readonly key: string
}

/** Object keys: S3 user guide, in bytes of UTF-8. */
const keyBytesMax = 1_024

/** Headers of the SDK that the service honours or that change nothing. */
const servedHeaders = new Set([
  checksumHeader,
  'x-amz-checksum-mode',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-security-token',
  'x-amz-user-agent',
])
/** Headers that would change the meaning of a request. */
const meaningfulHeader = /^(?:x-amz-|if-|range$|content-encoding$|content-md5$|cache-control$)/

/** Reads `/<bucket>/<key>`, each part percent-encoded. */
export function addressOf(request: Pick<IncomingMessage, 'url'>): ObjectAddress {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  const [, rawBucket = '', rawKey = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? []
  const bucket = decoded(rawBucket)
  const key = decoded(rawKey)
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new S3Error('InvalidBucketName', `"${bucket}" isn't a bucket's name: 3 to 63 of a-z, 0-9, "." and "-".`)
  }
  if (Buffer.byteLength(key) > keyBytesMax) {
    throw new S3Error('KeyTooLongError', `A key may have ${keyBytesMax} bytes. Use a shorter one.`)
  }
  return { bucket, key }
}

/** Refuses requests that the service would misunderstand. */
export function refuseUnserved(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  const query = new URLSearchParams((request.url ?? '').split('?').slice(1).join('?'))
  const parameter = [...query.keys()].find((name) => name !== 'x-id') // x-id names the operation, and nothing else
  const header = Object.keys(request.headers).find((name) => meaningfulHeader.test(name) && !servedHeaders.has(name))
  const unserved = parameter ?? header
  if (unserved !== undefined) {
    throw new S3Error('NotImplemented', `"${unserved}" isn't served by the local S3. Leave it out.`)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new S3Error('InvalidRequest', `"${part}" isn't percent-encoded UTF-8.`)
  }
}
