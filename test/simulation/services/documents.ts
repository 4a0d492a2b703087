/** S3 in memory, synchronous: PUT, GET, HEAD and DELETE of one object by key, path style. */
import { createDigests, declaredChecksums, verifyDigests } from '../../../infra/local/s3/checksums.ts'
import { errorXml, S3Error } from '../../../infra/local/s3/errors.ts'
import type { StoredObject } from '../../../infra/local/s3/objects.ts'
import { addressOf, keptHeaders, rangeOf, refuseUnserved } from '../../../infra/local/s3/request.ts'
import { checksumHeaders, objectHeaders } from '../../../infra/local/s3/s3.ts'
import { type Unchunked, unchunked } from './documents/aws-chunked.ts'
import type { SimulatedService, WireAnswer, WireRequest, WorldClock } from './service.ts'

export interface DocumentsOptions {
  readonly now: WorldClock
  /** The one bucket that exists. */
  readonly bucket: string
  /** What a character of a body stands for: `latin1` for content that isn't text. Absent: UTF-8. */
  readonly encoding?: 'utf8' | 'latin1'
}

export interface SimulatedDocuments extends SimulatedService {
  /** Requests so far, by method. */
  readonly counts: Readonly<Record<string, number>>
  /** Keys that begin so, in the order in which they were first stored. */
  keys(prefix?: string): string[]
  /** An object's content; undefined if there is none. */
  text(key: string): string | undefined
  /** `look` is called with the key after each object that was stored. What it throws, the request throws. */
  onPut(look: (key: string) => void): void
}

interface Held {
  readonly about: StoredObject
  readonly content: Buffer
}

/** An empty bucket. What isn't simulated is refused as `NotImplemented`. */
export function simulatedDocuments({ now, bucket, encoding = 'utf8' }: DocumentsOptions): SimulatedDocuments {
  const objects = new Map<string, Held>()
  const counts: Record<string, number> = {}
  const listeners: ((key: string) => void)[] = []
  let requests = 0

  function perform(request: WireRequest): WireAnswer {
    counts[request.method] = (counts[request.method] ?? 0) + 1
    const asked = { method: request.method, url: request.path, headers: request.headers }
    refuseUnserved(asked)
    const address = addressOf(asked)
    if (address.bucket !== bucket || address.key === '') {
      throw new S3Error('InvalidBucketName', `Only objects of the bucket ${bucket} are simulated.`)
    }
    switch (request.method) {
      case 'PUT':
        return put(address.key, request)
      case 'GET':
      case 'HEAD':
        return get(address.key, request)
      case 'DELETE':
        objects.delete(address.key)
        return { status: 204, headers: {}, body: '' }
      default:
        throw new S3Error('MethodNotAllowed', `${request.method} of an object is not simulated.`)
    }
  }

  function put(key: string, request: WireRequest): WireAnswer {
    const { headers } = request
    const checksums = declaredChecksums(headers)
    const { content, trailers } = contentOf(request)
    const digests = createDigests(checksums)
    digests.update(content)
    verifyDigests(digests, checksums, headers, trailers)
    if (headers['if-none-match'] === '*' && objects.has(key)) {
      throw new S3Error('PreconditionFailed', `"${key}" exists already, and If-None-Match is "*".`)
    }
    const about: StoredObject = {
      key,
      bytes: content.length,
      etag: digests.etag(),
      storedAt: now(),
      checksums: digests.values(),
      headers: keptHeaders(headers),
    }
    objects.set(key, { about, content })
    for (const listener of listeners) listener(key)
    return { status: 200, headers: { etag: `"${about.etag}"`, ...checksumHeaders(about) }, body: '' }
  }

  function contentOf({ headers, body }: WireRequest): Unchunked {
    const bytes = Buffer.from(body, encoding)
    const decodedBytes = headers['x-amz-decoded-content-length']
    const isChunked = headers['content-encoding']?.includes('aws-chunked') || decodedBytes !== undefined
    const sent = isChunked ? unchunked(bytes) : { content: bytes, trailers: new Map<string, string>() }
    const announced = decodedBytes ?? headers['content-length']
    if (announced !== undefined && Number(announced) !== sent.content.length) {
      throw new S3Error('IncompleteBody', `${announced} bytes were announced and ${sent.content.length} came.`)
    }
    return sent
  }

  function get(key: string, request: WireRequest): WireAnswer {
    const held = objects.get(key)
    if (!held) throw new S3Error('NoSuchKey', `The specified key "${key}" does not exist.`)
    const range = rangeOf(request.headers.range, held.about.bytes)
    const headers = objectHeaders(held.about, range, request)
    const content = range ? held.content.subarray(range.start, range.end + 1) : held.content
    const body = request.method === 'HEAD' ? '' : content.toString(encoding)
    return { status: range ? 206 : 200, headers, body }
  }

  function refusal(error: unknown, request: WireRequest): WireAnswer {
    if (!(error instanceof S3Error)) throw error
    const body = request.method === 'HEAD' ? '' : errorXml(error, request.path)
    return { status: error.status, headers: { 'content-type': 'application/xml' }, body }
  }

  return {
    counts,
    keys: (prefix = '') => [...objects.keys()].filter((key) => key.startsWith(prefix)),
    text: (key) => objects.get(key)?.content.toString(encoding),
    onPut: (look) => void listeners.push(look),
    answer(request) {
      requests++
      const id = { 'x-amz-request-id': `documents-${requests}` }
      try {
        const answer = perform(request)
        return { ...answer, headers: { ...answer.headers, ...id } }
      } catch (error) {
        const answer = refusal(error, request)
        return { ...answer, headers: { ...answer.headers, ...id } }
      }
    },
  }
}
