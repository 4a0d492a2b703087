/** What Muster relies on in S3, as promises that every implementation of it must keep, seen through the real SDK. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface S3Subject {
  readonly client: S3Client
  /** A bucket that may be written to. */
  readonly bucket: string
  stop(): Promise<void>
}

/** An implementation that looks before it writes loses about one race in ten: forty find it out. */
const racesPerTest = 40

export function s3Contract(name: string, start: () => Promise<S3Subject>): void {
  describe(`${name} keeps the contract of S3`, () => {
    let subject: S3Subject
    beforeAll(async () => {
      subject = await start()
    })
    afterAll(() => subject.stop())

    const newKey = () => `contract/${randomUUID()}`

    const put = (
      Key: string,
      Body: NonNullable<PutObjectCommandInput['Body']>,
      more: Partial<PutObjectCommandInput> = {},
    ) => subject.client.send(new PutObjectCommand({ Bucket: subject.bucket, Key, Body, ...more }))

    const get = (Key: string, more: { Range?: string } = {}) =>
      subject.client.send(new GetObjectCommand({ Bucket: subject.bucket, Key, ...more }))

    const textOf = async (Key: string) => (await get(Key)).Body?.transformToString()

    it('what was put is got, byte for byte, with its ETag', async () => {
      const key = newKey()
      const content = randomBytes(300_000)
      const stored = await put(key, content)
      const got = await get(key)
      expect(Buffer.from((await got.Body?.transformToByteArray()) ?? [])).toEqual(content)
      expect(stored.ETag).toBe(`"${createHash('md5').update(content).digest('hex')}"`)
      expect(got.ETag).toBe(stored.ETag)
      expect(got.ContentLength).toBe(content.length)
    })

    it('an empty object is an object', async () => {
      const key = newKey()
      await put(key, new Uint8Array(0))
      expect(await textOf(key)).toBe('')
    })

    it('a stream of known length, whose checksum comes after it, is stored without its framing', async () => {
      const key = newKey()
      const content = randomBytes(200_000)
      const parts = [content.subarray(0, 1), content.subarray(1, 70_000), content.subarray(70_000)]
      const stored = await put(key, Readable.from(parts), { ContentLength: content.length })
      const got = await get(key)
      expect(Buffer.from((await got.Body?.transformToByteArray()) ?? [])).toEqual(content)
      expect(got.ContentEncoding).toBeUndefined()
      expect(stored.ChecksumCRC32).toBeDefined()
      expect(got.ChecksumCRC32).toBe(stored.ChecksumCRC32)
    })

    it.each(['CRC32', 'SHA1', 'SHA256'] as const)(
      'a %s checksum is verified and returned',
      async (ChecksumAlgorithm) => {
        const key = newKey()
        const stored = await put(key, 'checked', { ChecksumAlgorithm })
        expect(stored[`Checksum${ChecksumAlgorithm}`]).toBeDefined()
        expect(await textOf(key)).toBe('checked')
      },
    )

    it('content that is not what its checksum says is refused, and nothing is stored', async () => {
      const key = newKey()
      const wrong = put(key, 'arrived', { ChecksumSHA256: createHash('sha256').update('sent').digest('base64') })
      await expect(wrong).rejects.toMatchObject({ name: 'BadDigest' })
      await expect(get(key)).rejects.toMatchObject({ name: 'NoSuchKey' })
    })

    it('content type, encoding and metadata are kept', async () => {
      const key = newKey()
      const kept = {
        ContentType: 'application/json; charset=utf-8',
        ContentEncoding: 'identity',
        CacheControl: 'no-store',
      }
      await put(key, '{}', { ...kept, Metadata: { run: 'r-1', 'plan-key': 'p' } })
      expect(await get(key)).toMatchObject({ ...kept, Metadata: { run: 'r-1', 'plan-key': 'p' } })
    })

    it('HEAD says of an object what GET would, without content', async () => {
      const key = newKey()
      const stored = await put(key, 'twelve bytes', { ContentType: 'text/plain' })
      const head = await subject.client.send(new HeadObjectCommand({ Bucket: subject.bucket, Key: key }))
      expect(head).toMatchObject({ ContentLength: 12, ContentType: 'text/plain', ETag: stored.ETag })
      expect(head.LastModified).toBeInstanceOf(Date)
    })

    it('a key that does not exist is NoSuchKey for GET and NotFound for HEAD', async () => {
      await expect(get(newKey())).rejects.toMatchObject({ name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } })
      const head = new HeadObjectCommand({ Bucket: subject.bucket, Key: newKey() })
      await expect(subject.client.send(head)).rejects.toMatchObject({ name: 'NotFound' })
    })

    it('a second put replaces the first', async () => {
      const key = newKey()
      await put(key, 'first, and longer')
      await put(key, 'second')
      expect(await textOf(key)).toBe('second')
    })

    it('If-None-Match * stores a key once and leaves what is there', async () => {
      const key = newKey()
      await put(key, 'first', { IfNoneMatch: '*' })
      const second = put(key, 'second', { IfNoneMatch: '*' })
      await expect(second).rejects.toMatchObject({ name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } })
      expect(await textOf(key)).toBe('first')
    })

    it('of ten writers with If-None-Match * at once, one wins, and its content stays', async () => {
      for (let round = 0; round < racesPerTest; round++) {
        const key = newKey()
        const writers = Array.from({ length: 10 }, (_, index) => put(key, `writer ${index}`, { IfNoneMatch: '*' }))
        const results = await Promise.allSettled(writers)
        const winners = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
        expect(winners).toHaveLength(1)
        expect(await textOf(key)).toBe(`writer ${winners[0]}`)
      }
    })

    it('a deleted object is gone, and deleting it twice is no error', async () => {
      const key = newKey()
      await put(key, 'short-lived')
      const remove = new DeleteObjectCommand({ Bucket: subject.bucket, Key: key })
      await subject.client.send(remove)
      await subject.client.send(remove)
      await expect(get(key)).rejects.toMatchObject({ name: 'NoSuchKey' })
    })

    it.each([
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=8-99', '89', 'bytes 8-9/10'],
    ])('the range %s is %s', async (Range, text, ContentRange) => {
      const key = newKey()
      await put(key, '0123456789')
      const part = await get(key, { Range })
      expect(await part.Body?.transformToString()).toBe(text)
      expect(part.ContentRange).toBe(ContentRange)
    })

    it('a range beyond the end is refused', async () => {
      const key = newKey()
      await put(key, '0123456789')
      await expect(get(key, { Range: 'bytes=10-' })).rejects.toMatchObject({ name: 'InvalidRange' })
    })

    it('keys are names, not paths: each of these is an object of its own', async () => {
      const prefix = newKey()
      const keys = ['a', 'a/b', 'a/b/', 'A', 'a//b', 'ä ö+%25?#&=', '😀', 'x'.repeat(900)].map(
        (end) => `${prefix}/${end}`,
      )
      for (const key of keys) await put(key, key)
      for (const key of keys) expect(await textOf(key)).toBe(key)
    })
  })
}
