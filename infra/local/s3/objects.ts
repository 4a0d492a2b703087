/**
 * Objects in a folder. Each object is one file, named by the digest of its key, so that no key can lead out of the
 * folder, collide with another or be too long for a file name. The file holds the content, then the description as
 * JSON, then the JSON's length in four bytes: content and description stay together, and change by one rename.
 */
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const objectSchema = z.object({
  key: z.string(),
  bytes: z.number(),
  /** Hexadecimal MD5, without the quotes. */
  etag: z.string(),
  /** Milliseconds since 1970. */
  storedAt: z.number(),
  /** Checksum headers with their values. */
  checksums: z.record(z.string(), z.string()),
  /** Headers that arrive with the content and return with it. */
  headers: z.record(z.string(), z.string()),
})

export type StoredObject = Readonly<z.infer<typeof objectSchema>>

export interface OpenObject {
  readonly about: StoredObject
  /** The caller closes the handle. A replaced object is still read whole. */
  readonly file: FileHandle
}

/** An upload: the content as it arrives, and a description made after the last byte; the description may refuse. */
export interface Upload {
  readonly content: AsyncIterable<Buffer>
  describe(): Pick<StoredObject, 'etag' | 'checksums' | 'headers'>
}

export interface Objects {
  /**
   * Stores the whole upload or nothing, whenever the process ends. Survives the end of the process; not flushed against
   * a power failure.
   */
  put(bucket: string, key: string, upload: Upload): Promise<StoredObject>
  open(bucket: string, key: string): Promise<OpenObject | undefined>
}

/** A leading dot, which no bucket's name has. */
const uploadsFolder = '.uploads'
const lengthBytes = 4

/** Opens `directory`, made if absent, and removes unfinished uploads of an earlier process. */
export async function openObjects(directory: string): Promise<Objects> {
  const uploads = join(directory, uploadsFolder)
  await rm(uploads, { recursive: true, force: true })
  await mkdir(uploads, { recursive: true })

  function pathOf(bucket: string, key: string): string {
    const digest = createHash('sha256').update(key).digest('hex')
    return join(directory, bucket, digest.slice(0, 2), digest)
  }

  return {
    async put(bucket, key, upload) {
      const path = pathOf(bucket, key)
      const temporary = join(uploads, randomUUID())
      try {
        const about = await writeUpload(temporary, key, upload)
        await mkdir(dirname(path), { recursive: true })
        await rename(temporary, path)
        return about
      } finally {
        await rm(temporary, { force: true })
      }
    },
    async open(bucket, key) {
      const file = await open(pathOf(bucket, key), 'r').catch(absent)
      if (!file) return undefined
      try {
        return { about: await readDescription(file), file }
      } catch (error) {
        await file.close()
        throw error
      }
    },
  }
}

async function writeUpload(path: string, key: string, upload: Upload): Promise<StoredObject> {
  await using file = await open(path, 'wx', 0o600)
  let bytes = 0
  for await (const chunk of upload.content) {
    await file.writeFile(chunk) // continues where the last chunk ended
    bytes += chunk.length
  }
  const about = { key, bytes, storedAt: Date.now(), ...upload.describe() }
  const description = Buffer.from(JSON.stringify(about))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(description.length)
  await file.writeFile(Buffer.concat([description, length]))
  return about
}

async function readDescription(file: FileHandle): Promise<StoredObject> {
  const { size } = await file.stat()
  const length = await readAt(file, size - lengthBytes, lengthBytes)
  const descriptionBytes = length.readUInt32BE()
  const description = await readAt(file, size - lengthBytes - descriptionBytes, descriptionBytes)
  return objectSchema.parse(JSON.parse(description.toString('utf8')))
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes)
  await file.read(buffer, 0, bytes, position)
  return buffer
}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
