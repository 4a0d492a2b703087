/** The headers of an object: those stored with an upload, and those of the answers to upload and read. */
import type { IncomingHttpHeaders } from 'node:http'
import { checksumHeader, type Digests } from './checksums.ts'
import type { StoredObject } from './objects.ts'

export function descriptionOf(
  digests: Digests,
  headers: IncomingHttpHeaders,
): Pick<StoredObject, 'etag' | 'checksums' | 'headers'> {
  const type = headers['content-type']
  return {
    etag: digests.etag(),
    checksums: { [checksumHeader]: digests.crc() },
    headers: type === undefined ? {} : { 'content-type': type },
  }
}

export function putHeaders(about: StoredObject): Record<string, string> {
  return { etag: `"${about.etag}"`, ...about.checksums, 'x-amz-checksum-type': 'FULL_OBJECT' }
}

export function getHeaders(about: StoredObject, asked: IncomingHttpHeaders): Record<string, string> {
  const wantsChecksum = asked['x-amz-checksum-mode'] === 'ENABLED'
  return {
    'content-type': 'binary/octet-stream',
    ...about.headers,
    'last-modified': new Date(about.storedAt).toUTCString(),
    'content-length': String(about.bytes),
    ...(wantsChecksum ? putHeaders(about) : { etag: `"${about.etag}"` }),
  }
}
