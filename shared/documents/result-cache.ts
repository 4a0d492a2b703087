/**
 * The result of a review, found by the review's name. The name is written after the result and before the ledger's
 * item, so that a worker that takes the review over, after a crash or a halt, doesn't pay for the result again. The
 * cache is a hint: a result counts when the ledger names it.
 */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { nameOf } from '../base/errors.ts'
import { type ReviewName, reviewIdOf } from '../runs/review.ts'
import type { Documents } from './documents.ts'

/** Remembers the digest of a stored result. The last digest counts; every digest is of the same plan key. */
export async function cacheResult(documents: Documents, name: ReviewName, digest: string): Promise<void> {
  const { client, bucket } = documents
  await client.send(
    new PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: digest, ContentType: 'text/plain; charset=utf-8' }),
  )
}

/** The digest of this review's cached result; undefined without a cached result. */
export async function cachedResult(documents: Documents, name: ReviewName): Promise<string | undefined> {
  const { client, bucket } = documents
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) }))
    return await Body?.transformToString('utf-8')
  } catch (error) {
    if (nameOf(error) === 'NoSuchKey') return undefined
    throw error
  }
}

function keyOf(name: ReviewName): string {
  return `made/${reviewIdOf(name)}`
}
