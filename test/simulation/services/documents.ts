/** S3 in memory, synchronous: PUT and GET of one object by key, path style. */
import { createDigests, verifyDigests } from '../../../infra/local/s3/checksums.ts'
import { errorXml, S3Error } from '../../../infra/local/s3/errors.ts'
import { descriptionOf, getHeaders, putHeaders } from '../../../infra/local/s3/headers.ts'
import type { StoredObject } from '../../../infra/local/s3/objects.ts'
import { addressOf, refuseUnserved } from '../../../infra/local/s3/request.ts'
import type { SimulatedService, WireAnswer, WireRequest, WorldClock } from './service.ts'

export interface DocumentsOptions {
  readonly now: WorldClock
  /** The only bucket. */
  readonly bucket: string
  /** Encoding of a body's characters: `latin1` for content that isn't text. Absent: UTF-8. */
  readonly encoding?: 'utf8' | 'latin1'
}

export interface SimulatedDocuments extends SimulatedService {
  /** Requests up to now, by method. */
  readonly counts: Readonly<Record<string, number>>
  /** Keys with this prefix, in the order of their first store. */
  keys(prefix?: string): string[]
  /** An object's content; undefined if no object has the key. */
  text(key: string): string | undefined
  /** Calls `look` with the key after each stored object. An error of `look` fails the request. */
  onPut(look: (key: string) => void): void
}

interface Held {
  readonly about: StoredObject
  readonly content: Buffer
}

/** An empty bucket. A feature that isn't simulated is refused as `NotImplemented`. */
export function simulatedDocuments({ now, bucket, encoding = 'utf8' }: DocumentsOptions): SimulatedDocuments {
  const objects = new Map<string, Held>()
  const counts: Record<string, number> = {}
  const listeners: ((key: string) => void)[] = []
  let requests = 0

  function perform(request: WireRequest): WireAnswer {
    counts[request.method] = (counts[request.method] ?? 0) + 1
    const asked = { url: request.path, headers: request.headers }
    refuseUnserved(asked)
    const address = addressOf(asked)
    if (address.bucket !== bucket || address.key === '') {
      throw new S3Error('InvalidBucketName', `Only objects of the bucket ${bucket} are simulated.`)
    }
    switch (request.method) {
      case 'PUT':
        return put(address.key, request)
      case 'GET':
        return get(address.key, request)
      default:
        throw new S3Error('MethodNotAllowed', `${request.method} of an object is not simulated.`)
    }
  }

  function put(key: string, { headers, body }: WireRequest): WireAnswer {
    const content = Buffer.from(body, encoding)
    const digests = createDigests()
    digests.update(content)
    verifyDigests(digests, headers)
    const about = { key, bytes: content.length, storedAt: now(), ...descriptionOf(digests, headers) }
    objects.set(key, { about, content })
    for (const listener of listeners) listener(key)
    return { status: 200, headers: putHeaders(about), body: '' }
  }

  function get(key: string, request: WireRequest): WireAnswer {
    const held = objects.get(key)
    if (!held) throw new S3Error('NoSuchKey', `The specified key "${key}" does not exist.`)
    return { status: 200, headers: getHeaders(held.about, request.headers), body: held.content.toString(encoding) }
  }

  function refusal(error: unknown, request: WireRequest): WireAnswer {
    if (!(error instanceof S3Error)) throw error
    return {
      status: error.status,
      headers: { 'content-type': 'application/xml' },
      body: errorXml(error, request.path),
    }
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
