/** Muster's demands on S3, as promises that every implementation must keep, seen through the real SDK. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface S3Subject {
  readonly client: S3Client
  /** A writable bucket. */
  readonly bucket: string
  stop(): Promise<void>
}

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

    const get = (Key: string) => subject.client.send(new GetObjectCommand({ Bucket: subject.bucket, Key }))

    const textOf = async (Key: string) => (await get(Key)).Body?.transformToString()

    it('a stored object comes back, byte for byte, with its ETag', async () => {
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

    it('content that differs from its checksum is refused, and nothing is stored', async () => {
      const key = newKey()
      const wrong = put(key, 'arrived', { ChecksumCRC32: 'AAAAAA==' })
      await expect(wrong).rejects.toMatchObject({ name: 'BadDigest' })
      await expect(get(key)).rejects.toMatchObject({ name: 'NoSuchKey' })
    })

    it('the content type is kept, and the checksum is returned', async () => {
      const key = newKey()
      const stored = await put(key, '{}', { ContentType: 'application/json; charset=utf-8' })
      const got = await get(key)
      expect(got.ContentType).toBe('application/json; charset=utf-8')
      expect(stored.ChecksumCRC32).toBeDefined()
      expect(got.ChecksumCRC32).toBe(stored.ChecksumCRC32)
    })

    it('an absent key is NoSuchKey', async () => {
      await expect(get(newKey())).rejects.toMatchObject({ name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } })
    })

    it('a second put replaces the first', async () => {
      const key = newKey()
      await put(key, 'first, and longer')
      await put(key, 'second')
      expect(await textOf(key)).toBe('second')
    })

    it('keys are names, not paths: each key here is an object of its own', async () => {
      const prefix = newKey()
      const keys = ['a', 'a/b', 'a/b/', 'A', 'a//b', 'ä ö+%25?#&=', '😀', 'x'.repeat(900)].map(
        (end) => `${prefix}/${end}`,
      )
      for (const key of keys) await put(key, key)
      for (const key of keys) expect(await textOf(key)).toBe(key)
    })
  })
}
