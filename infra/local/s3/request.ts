/** What a request to S3 asks for: which object, which part of it, and whether it is something that is served at all. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { S3Error } from './errors.ts'

export interface ObjectAddress {
  readonly bucket: string
  /** Empty: the bucket itself is meant. */
  readonly key: string
}

/** First and last byte, both within the object. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Object keys: S3 user guide, in bytes of UTF-8. */
const keyBytesMax = 1_024

/** Returned as they were sent. */
const keptNames = new Set(['cache-control', 'content-disposition', 'content-language', 'content-type', 'expires'])
const metadataPrefix = 'x-amz-meta-'

/** Headers that would change what a request means, and have no meaning here. */
const unservedHeaders = ['if-match', 'if-modified-since', 'if-unmodified-since', 'x-amz-copy-source']

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

/** Refuses what this service would otherwise answer wrongly by not knowing it. */
export function refuseUnserved(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): void {
  const query = new URLSearchParams((request.url ?? '').split('?').slice(1).join('?'))
  const parameter = [...query.keys()].find((name) => name !== 'x-id') // x-id names the operation, and nothing else
  const header = unservedHeaders.find((name) => request.headers[name] !== undefined)
  const condition = request.headers['if-none-match']
  const unserved = parameter ?? header ?? (conditionServed(request.method, condition) ? undefined : 'if-none-match')
  if (unserved !== undefined) {
    throw new S3Error('NotImplemented', `"${unserved}" isn't served by the local S3. Leave it out.`)
  }
}

/** The part that `header` asks for; absent, malformed or of several parts, the whole is meant. */
export function rangeOf(header: string | undefined, bytes: number): ByteRange | undefined {
  const [matched, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (matched === undefined || (first === '' && last === '')) return undefined
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (start <= end) return { start, end }
  throw new S3Error('InvalidRange', `The range "${header}" isn't within the object's ${bytes} bytes.`)
}

/** The headers that are stored with an object. `aws-chunked` is how it was sent, not what it is. */
export function keptHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => keptNames.has(name) || name.startsWith(metadataPrefix))
  const encodings = String(headers['content-encoding'] ?? '').split(',')
  const encoding = encodings.map((part) => part.trim()).filter((part) => part !== '' && part !== 'aws-chunked')
  if (encoding.length > 0) kept.push(['content-encoding', encoding.join(',')])
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

function conditionServed(method: string | undefined, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch === undefined || (method === 'PUT' && ifNoneMatch === '*')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new S3Error('InvalidRequest', `"${part}" isn't percent-encoded UTF-8.`)
  }
}
