import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalService, serve } from '../../../infra/local/service.ts'
import { CONTRACT, WORK_REMAINING_MIN_MS } from '../../../shared/base/limits.ts'
import { reviewIdOf } from '../../../shared/runs/review.ts'
import { wantedReview } from '../../shared/samples.ts'

type Handler = typeof import('../../../functions/review/handler.ts').handler

/** A stand-in of every AWS service: only counts calls, and gives no usable answer. */
let aws: LocalService
let requests = 0
let handler: Handler
beforeAll(async () => {
  aws = await serve((_, response) => {
    requests += 1
    response.writeHead(400).end('{"__type":"ValidationException"}')
  })
  const { url } = aws
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: url,
    TABLE_NAME: 'ledger',
    DOCUMENTS_BUCKET: 'documents',
    MODELS_SECRET_ID: 'models',
  })
  ;({ handler } = await import('../../../functions/review/handler.ts'))
})
afterAll(() => aws.close())

const input = (runId = wantedReview(0).runId) => ({
  contract: CONTRACT,
  runId,
  attempt: 1,
  review: reviewIdOf(wantedReview(0)),
  epoch: 1,
})
const within = (remainingMs: number) => ({ awsRequestId: 'worker', getRemainingTimeInMillis: () => remainingMs })

describe('the review room', () => {
  it.each([0, 1, WORK_REMAINING_MIN_MS - 1])(
    'AW28: with %d ms left the room begins nothing and asks for another call',
    async (remainingMs) => {
      const before = requests
      await expect(handler(input(), within(remainingMs))).rejects.toMatchObject({
        name: 'retry',
        code: 'deadline_too_near',
      })
      expect(requests).toBe(before)
    },
  )

  it('AW28: with just enough time left the room begins', async () => {
    const before = requests
    await expect(handler(input(), within(WORK_REMAINING_MIN_MS))).rejects.toThrow()
    expect(requests).toBeGreaterThan(before)
  })

  it('RC1: a review of another run is refused before any read or write', async () => {
    const before = requests
    await expect(handler(input('f'.repeat(64)), within(60_000))).rejects.toMatchObject({
      name: 'refused',
      code: 'unknown_review',
    })
    expect(requests).toBe(before)
  })

  it('an input of another contract is refused', async () => {
    await expect(handler({ ...input(), contract: CONTRACT + 1 }, within(60_000))).rejects.toMatchObject({
      name: 'refused',
      code: 'contract_unknown',
    })
  })
})
