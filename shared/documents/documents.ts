/**
 * Content by its SHA-256: plans, results, conclusions, texts. A document is written before the item that names it, and
 * inert until then.
 */
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type * as z from 'zod'
import { sayingRetry, withDeadline } from '../aws/client.ts'
import { canonical, type Plain, sha256 } from '../base/digest.ts'
import { Dead, nameOf } from '../base/errors.ts'
import { type Stored, storedAs } from '../base/schema.ts'

export interface Documents {
  readonly client: S3Client
  readonly bucket: string
}

/** Opens the bucket; nothing is sent yet. */
export function openDocuments(bucket: string): Documents {
  return { client: sayingRetry(new S3Client({ requestHandler: withDeadline() })), bucket }
}

/** Stores a plain value and answers its digest. The same value has the same digest and is stored once. */
export async function putDocument(documents: Documents, value: object): Promise<string> {
  return putText(documents, canonical(value as Plain), 'application/json')
}

/** Stores a text and returns its digest. */
export async function putText(
  documents: Documents,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): Promise<string> {
  const digest = sha256(text)
  await documents.client.send(
    new PutObjectCommand({
      Bucket: documents.bucket,
      Key: keyOf(digest),
      Body: Buffer.from(text, 'utf8'),
      ContentType: contentType,
    }),
  )
  return digest
}

/**
 * Reads a stored value as `schema` describes it. Throws Dead `document_missing` for a missing document, which is a loss
 * because an item names the document, and Dead `document_invalid` for a misfit.
 */
export async function getDocument<Schema extends z.ZodType>(
  documents: Documents,
  digest: string,
  schema: Schema,
): Promise<Stored<Schema>> {
  const text = await getText(documents, digest)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(digest, 'is no JSON') // without the parser's cause, which quotes the text
  }
  return storedAs(schema, value, (member) => invalid(digest, `has another ${member} than this version expects`))
}

/** Reads a stored text. */
export async function getText(documents: Documents, digest: string): Promise<string> {
  try {
    const { Body } = await documents.client.send(new GetObjectCommand({ Bucket: documents.bucket, Key: keyOf(digest) }))
    return (await Body?.transformToString('utf-8')) ?? ''
  } catch (error) {
    if (nameOf(error) !== 'NoSuchKey') throw error
    throw new Dead(
      'document_missing',
      `The document ${digest.slice(0, 12)} is not in the bucket.`,
      'Ask for the review again; if this recurs, look at the bucket’s lifecycle rules.',
      { cause: error },
    )
  }
}

function invalid(digest: string, what: string): Dead {
  const remedy = 'Deploy the version that wrote it, or a newer one; if that runs already, ask for the review again.'
  return new Dead('document_invalid', `The document ${digest.slice(0, 12)} ${what}.`, remedy)
}

function keyOf(digest: string): string {
  return `sha256/${digest}`
}
