/**
 * Amazon S3 on one machine, as far as Muster needs it: PUT and GET of one object by key, path style, over a folder. A
 * bucket exists as soon as a request names it. Other requests are refused as `NotImplemented`, never ignored.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { type LocalService, serve } from '../service.ts'
import { createDigests, type Digests, verifyDigests } from './checksums.ts'
import { errorXml, S3Error } from './errors.ts'
import { descriptionOf, getHeaders, putHeaders } from './headers.ts'
import { type Objects, openObjects } from './objects.ts'
import { addressOf, refuseUnserved } from './request.ts'

export interface S3Options {
  /** The folder of the objects; made if absent. One process at a time. */
  readonly directory: string
}

/** Serves S3 until closed. */
export async function startS3(options: S3Options): Promise<LocalService> {
  const objects = await openObjects(options.directory)
  return serve(async (request, response) => {
    try {
      await handle(objects, request, response)
    } catch (error) {
      refuse(request, response, error)
    }
  })
}

async function handle(objects: Objects, request: IncomingMessage, response: ServerResponse): Promise<void> {
  refuseUnserved(request)
  const { bucket, key } = addressOf(request)
  if (key === '') throw new S3Error('NotImplemented', 'Buckets are not served. Ask for objects by key.')
  if (request.method === 'PUT') return put(objects, bucket, key, request, response)
  if (request.method === 'GET') return get(objects, bucket, key, request, response)
  throw new S3Error('MethodNotAllowed', `${request.method} of an object isn't served. Use PUT or GET.`)
}

async function put(
  objects: Objects,
  bucket: string,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = request
  const digests = createDigests()
  // An unfinished iterator must leave the connection open for the refusal.
  const content = digested(request.iterator({ destroyOnReturn: false }), digests)
  const describe = () => {
    verifyDigests(digests, headers)
    return descriptionOf(digests, headers)
  }
  const about = await objects.put(bucket, key, { content, describe })
  response.writeHead(200, { ...putHeaders(about), 'content-length': 0 }).end()
}

async function* digested(content: AsyncIterable<Buffer>, digests: Digests): AsyncGenerator<Buffer> {
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
  response.writeHead(200, getHeaders(found.about, request.headers))
  const { bytes } = found.about
  if (bytes === 0) response.end()
  else await pipeline(file.createReadStream({ start: 0, end: bytes - 1, autoClose: false }), response)
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) {
    response.destroy() // the caller went away, or must see that the object broke off
    if (!request.destroyed) console.error(error)
    return
  }
  if (!(error instanceof S3Error)) console.error(error)
  const refusal =
    error instanceof S3Error ? error : new S3Error('InternalError', 'The local S3 failed; its log has the reason.')
  request.resume() // the rest of the request is read before the answer can be
  const body = Buffer.from(errorXml(refusal, request.url ?? ''))
  response.writeHead(refusal.status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body)
}
