import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startS3 } from '../../../../infra/local/s3/s3.ts'
import type { LocalService } from '../../../../infra/local/service.ts'
import { s3Contract } from './contract.ts'

function clientFor(endpoint: string): S3Client {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return new S3Client({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
}

const newFolder = () => mkdtemp(join(tmpdir(), 'muster-s3-'))

s3Contract('infra/local/s3', async () => {
  const directory = await newFolder()
  const service = await startS3({ directory })
  return {
    client: clientFor(service.url),
    bucket: 'documents',
    async stop() {
      await service.close()
      await rm(directory, { recursive: true })
    },
  }
})

describe('the folder', () => {
  let directory: string
  let service: LocalService
  let client: S3Client
  beforeEach(async () => {
    directory = await newFolder()
    service = await startS3({ directory })
    client = clientFor(service.url)
  })
  afterEach(async () => {
    await service.close()
    await rm(directory, { recursive: true })
  })

  const filesOf = async (folder: string) =>
    (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())

  /** Sends bytes unchanged; resolves with the whole answer. */
  async function raw(text: string): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) })
    const answer: Buffer[] = []
    socket.on('data', (bytes: Buffer) => answer.push(bytes))
    socket.write(text.replaceAll('\n', '\r\n'))
    await once(socket, 'close')
    return Buffer.concat(answer).toString()
  }

  it.each(['/documents/../../../escaped', '/documents/%2e%2e%2f%2e%2e%2fescaped', '/documents//etc/escaped'])(
    'no key leads out of it: %s',
    async (path) => {
      const root = join(directory, 'deeper')
      const inner = await startS3({ directory: root })
      const port = Number(new URL(inner.url).port)
      const socket = connect({ host: '127.0.0.1', port })
      socket.resume()
      socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`)
      await once(socket, 'close')
      await inner.close()
      const files = await filesOf(directory)
      expect(files).toHaveLength(1)
      expect(files[0]?.parentPath.startsWith(join(root, 'documents'))).toBe(true)
    },
  )

  it.each(['/..', '/../x', '/%2e%2e/x', '/.uploads/x', '/UPPER/x', '/'])('no bucket does either: %s', async (path) => {
    const answer = await raw(`PUT ${path} HTTP/1.1\nHost: x\nConnection: close\nContent-Length: 1\n\nx`)
    expect(answer).toMatch(/^HTTP\/1.1 400 .*<Code>InvalidBucketName<\/Code>/s)
    expect(await filesOf(directory)).toEqual([])
  })

  it('objects survive a restart, and unfinished uploads do not', async () => {
    await client.send(new PutObjectCommand({ Bucket: 'documents', Key: 'kept', Body: 'content' }))
    await service.close()
    await mkdir(join(directory, '.uploads'), { recursive: true })
    await writeFile(join(directory, '.uploads', 'unfinished'), 'half')
    service = await startS3({ directory })
    client = clientFor(service.url)
    const got = await client.send(new GetObjectCommand({ Bucket: 'documents', Key: 'kept' }))
    expect(await got.Body?.transformToString()).toBe('content')
    expect(await readdir(join(directory, '.uploads'))).toEqual([])
  })

  it('a broken upload stores nothing and leaves nothing', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) })
    socket.write('PUT /documents/broken HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nhalf')
    await expect.poll(async () => (await filesOf(join(directory, '.uploads'))).length).toBe(1)
    socket.destroy()
    await expect.poll(async () => (await filesOf(directory)).length).toBe(0)
  })

  it('an unserved request is refused by name', async () => {
    const request = (line: string, header = 'X-None: 1') =>
      raw(`${line} HTTP/1.1\nHost: x\nConnection: close\n${header}\nContent-Length: 0\n\n`)
    expect(await request('GET /documents?list-type=2')).toMatch(/501 .*NotImplemented.*list-type/s)
    expect(await request('PUT /documents/a?tagging')).toMatch(/501 .*tagging/s)
    expect(await request('PUT /documents/a', 'X-Amz-Copy-Source: /b/c')).toMatch(/501 .*x-amz-copy-source/s)
    expect(await request('PUT /documents/a', 'If-None-Match: *')).toMatch(/501 .*if-none-match/s)
    expect(await request('GET /documents/a', 'Range: bytes=0-1')).toMatch(/501 .*range/s)
    expect(await request('PUT /documents/a', 'Content-Encoding: aws-chunked')).toMatch(/501 .*content-encoding/s)
    expect(await request('PUT /documents/a', 'X-Amz-Checksum-Crc32c: AAAAAA==')).toMatch(/501 .*crc32c/s)
    expect(await request('PUT /documents')).toMatch(/501 .*Buckets are not served/s)
    expect(await request('DELETE /documents/a')).toMatch(/405 .*MethodNotAllowed/s)
  })

  it('a refusal is answered although the body is still on its way', async () => {
    const Body = Buffer.alloc(5_000_000)
    const key = { Bucket: 'documents', Key: 'x'.repeat(1_025) }
    await expect(client.send(new PutObjectCommand({ ...key, Body }))).rejects.toMatchObject({ name: 'KeyTooLongError' })
  })

  it('an object replaced during its read is read whole', async () => {
    const key = { Bucket: 'documents', Key: 'large' }
    await client.send(new PutObjectCommand({ ...key, Body: Buffer.alloc(8_000_000, 'a') }))
    const reading = await client.send(new GetObjectCommand(key))
    await client.send(new PutObjectCommand({ ...key, Body: 'b' }))
    const text = await reading.Body?.transformToString()
    expect(text).toBe('a'.repeat(8_000_000))
  })
})
