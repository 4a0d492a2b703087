/**
 * Amazon S3 on one machine, as far as Muster needs it: PUT, GET, HEAD and DELETE of one object by key, path style, over
 * a folder. A bucket exists as soon as it is named. What isn't served is refused as `NotImplemented`, never ignored.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { type LocalService, serve } from '../service.ts'
import { decodeAwsChunked } from './aws-chunked.ts'
import { createDigests, declaredChecksums, verifyDigests } from './checksums.ts'
import { errorXml, S3Error } from './errors.ts'
import { type Objects, openObjects, type StoredObject } from './objects.ts'
import { addressOf, type ByteRange, keptHeaders, rangeOf, refuseUnserved } from './request.ts'

export interface S3Options {
  /** Where the objects are; made if absent. One process at a time. */
  readonly directory: string
  /** 0 or absent: any free port. */
  readonly port?: number
}

/** Serves S3 until closed. A port in use rejects with `EADDRINUSE`. */
export async function startS3(options: S3Options): Promise<LocalService> {
  const objects = await openObjects(options.directory)
  return serve(async (request, response) => {
    try {
      await handle(objects, request, response)
    } catch (error) {
      refuse(request, response, error)
    }
  }, options.port)
}

async function handle(objects: Objects, request: IncomingMessage, response: ServerResponse): Promise<void> {
  refuseUnserved(request)
  const { bucket, key } = addressOf(request)
  if (key === '') return answerBucket(request, response)
  switch (request.method) {
    case 'PUT':
      return put(objects, bucket, key, request, response)
    case 'GET':
    case 'HEAD':
      return get(objects, bucket, key, request, response)
    case 'DELETE':
      await objects.remove(bucket, key)
      response.writeHead(204).end()
      return
    default:
      throw new S3Error(
        'MethodNotAllowed',
        `${request.method} of an object isn't served. Use PUT, GET, HEAD or DELETE.`,
      )
  }
}

/** Creating a bucket, or asking for it, succeeds: it exists by being named. */
function answerBucket(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'PUT' && request.method !== 'HEAD') {
    throw new S3Error('NotImplemented', `${request.method} of a bucket isn't served. Ask for objects by key.`)
  }
  request.resume()
  response.writeHead(200, { 'content-length': 0 }).end()
}

async function put(
  objects: Objects,
  bucket: string,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = request
  const checksums = declaredChecksums(headers)
  const digests = createDigests(checksums)
  const trailers = new Map<string, string>()
  // An iterator that isn't finished must leave the connection open, for the refusal to be sent.
  const sent: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  const decodedBytes = headers['x-amz-decoded-content-length']
  const chunked = String(headers['content-encoding'] ?? '').includes('aws-chunked') || decodedBytes !== undefined
  const content = digested(chunked ? decodeAwsChunked(sent, trailers) : sent, digests)

  const describe = (bytes: number) => {
    const expectedBytes = decodedBytes ?? headers['content-length']
    if (expectedBytes !== undefined && Number(expectedBytes) !== bytes) {
      throw new S3Error('IncompleteBody', `${expectedBytes} bytes were announced and ${bytes} came. Send it again.`)
    }
    verifyDigests(digests, checksums, headers, trailers)
    return { etag: digests.etag(), checksums: digests.values(), headers: keptHeaders(headers) }
  }
  const about = await objects.put(bucket, key, { content, describe }, headers['if-none-match'] === '*')
  response.writeHead(200, { etag: `"${about.etag}"`, ...checksumHeaders(about), 'content-length': 0 }).end()
}

async function* digested(
  content: AsyncIterable<Buffer>,
  digests: ReturnType<typeof createDigests>,
): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    digests.update(chunk)
    yield chunk
  }
}

async function get(
  objects: Objects,
  bucket: string,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const found = await objects.open(bucket, key)
  if (!found) throw new S3Error('NoSuchKey', `The specified key "${key}" does not exist in ${bucket}.`)
  await using file = found.file
  const range = rangeOf(request.headers.range, found.about.bytes)
  response.writeHead(range ? 206 : 200, objectHeaders(found.about, range, request))
  const { start, end } = range ?? { start: 0, end: found.about.bytes - 1 }
  if (request.method === 'HEAD' || end < start) {
    response.end()
    return
  }
  await pipeline(file.createReadStream({ start, end, autoClose: false }), response)
}

/** What is said of an object, or of a part of it, before its content. */
export function objectHeaders(
  about: StoredObject,
  range: ByteRange | undefined,
  request: Pick<IncomingMessage, 'headers'>,
): Record<string, string> {
  // A checksum is of the whole object; the SDK would compare it with the part.
  const wantsChecksum = request.headers['x-amz-checksum-mode']?.toString().toUpperCase() === 'ENABLED' && !range
  return {
    'content-type': 'binary/octet-stream',
    ...about.headers,
    etag: `"${about.etag}"`,
    'last-modified': new Date(about.storedAt).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': String(range ? range.end - range.start + 1 : about.bytes),
    ...(range ? { 'content-range': `bytes ${range.start}-${range.end}/${about.bytes}` } : {}),
    ...(wantsChecksum ? checksumHeaders(about) : {}),
  }
}

/** The checksums of an object, as its upload and its reading answer them. */
export const checksumHeaders = (about: StoredObject): Record<string, string> => ({
  ...about.checksums,
  'x-amz-checksum-type': 'FULL_OBJECT',
})

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) {
    response.destroy() // the caller went away, or must see that the object broke off
    if (!request.destroyed) console.error(error)
    return
  }
  if (!(error instanceof S3Error)) console.error(error)
  const refusal =
    error instanceof S3Error ? error : new S3Error('InternalError', 'The local S3 failed; its log has the reason.')
  request.resume() // what is still on its way is read, so that the answer can be
  const body = Buffer.from(request.method === 'HEAD' ? '' : errorXml(refusal, request.url ?? ''))
  response.writeHead(refusal.status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body)
}
