/** The simulated documents keep S3's contract, and tell invariants of each stored object. */
import { S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { s3Contract } from '../../infra/local/s3/contract.ts'
import { simulatedDocuments } from './documents.ts'
import { serveSimulated } from './http.ts'

s3Contract('the simulated documents', async () => {
  const documents = simulatedDocuments({ now: Date.now, bucket: 'documents', encoding: 'latin1' })
  const service = await serveSimulated(documents, { encoding: 'latin1' })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return {
    client: new S3Client({ endpoint: service.url, region: 'us-east-1', credentials, maxAttempts: 1 }),
    bucket: 'documents',
    stop: () => service.close(),
  }
})

test('a text is stored unchanged, and a listener hears of the text after the store', () => {
  const documents = simulatedDocuments({ now: () => 0, bucket: 'documents' })
  const seen: (string | undefined)[] = []
  documents.onPut((key) => seen.push(documents.text(key)))
  const put = (path: string, body: string) => documents.answer({ method: 'PUT', path, headers: {}, body })
  put('/documents/sha256/a', 'naïve ✓ 😀')
  expect(put('/other/sha256/a', 'lost').status).toBe(400)
  expect(seen).toEqual(['naïve ✓ 😀'])
  expect(documents.keys('sha256/')).toEqual(['sha256/a'])
  expect(documents.counts).toEqual({ PUT: 2 })
})
