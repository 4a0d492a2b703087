/** The simulated queues keep SQS's contract, and the promises that the simulation's event source needs. */
import { SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { sqsContract } from '../../infra/local/sqs/contract.ts'
import { serveSimulated } from './http.ts'
import { simulatedQueues } from './queues.ts'
import type { WireAnswer, WireRequest } from './service.ts'

const MINUTE_MS = 60_000

sqsContract('the simulated queues', async () => {
  let at = Date.parse('2031-05-05T00:00:00Z')
  const service = await serveSimulated(simulatedQueues({ now: () => at }), { waitMs: longPollMs })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return {
    client: new SQSClient({ endpoint: service.url, region: 'local', credentials, maxAttempts: 1 }),
    passTime: async (ms) => {
      at += ms
    },
    stop: () => service.close(),
  }
})

/** A simulated receive never waits; the HTTP server in front does the long polling. */
function longPollMs({ headers, body }: WireRequest, answer: WireAnswer): number {
  if (headers['x-amz-target'] !== 'AmazonSQS.ReceiveMessage' || answer.body !== '{}') return 0
  const { WaitTimeSeconds = 0 } = JSON.parse(body) as { WaitTimeSeconds?: number }
  return WaitTimeSeconds * 1_000
}

/** A FIFO queue with one message, and a clock. */
function queueWith(attributes: Record<string, string> = {}) {
  let at = 1_790_000_000_000
  const queues = simulatedQueues({ now: () => at })
  const url = queues.create('outbox.fifo', { FifoQueue: 'true', VisibilityTimeout: '60', ...attributes })
  const send = (MessageBody: string, MessageGroupId: string, MessageDeduplicationId: string) =>
    queues.answer({
      method: 'POST',
      path: '/',
      headers: { 'x-amz-target': 'AmazonSQS.SendMessage' },
      body: JSON.stringify({ QueueUrl: url, MessageBody, MessageGroupId, MessageDeduplicationId }),
    })
  const pass = (ms: number) => {
    at += ms
  }
  return { queues, send, pass, now: () => at }
}

test('an event source receives and deletes records, and an undeleted record appears again after the visibility timeout', () => {
  const { queues, send, pass, now } = queueWith()
  const changed: string[] = []
  queues.onChange((name) => changed.push(name))
  send('one', 'a', '1')
  send('two', 'b', '2')
  expect(changed).toEqual(['outbox.fifo', 'outbox.fifo'])
  const [one, two] = queues.receive('outbox.fifo', 10)
  expect(one).toMatchObject({ body: 'one', attributes: { MessageGroupId: 'a', ApproximateReceiveCount: '1' } })
  queues.delete('outbox.fifo', one?.receiptHandle ?? '')
  expect(queues.nextVisibleAt('outbox.fifo')).toBe(now() + MINUTE_MS)
  expect(queues.messages('outbox.fifo')).toMatchObject([{ body: 'two', groupId: 'b', receives: 1 }])
  pass(MINUTE_MS)
  expect(() => queues.delete('outbox.fifo', two?.receiptHandle ?? '')).toThrow('expired')
  expect(queues.receive('outbox.fifo', 10)).toMatchObject([
    { body: 'two', attributes: { ApproximateReceiveCount: '2' } },
  ])
})

test('AW31: a deduplication id counts for five minutes from the first send, also after the deletion', () => {
  const { queues, send, pass } = queueWith()
  send('nudge', 'a', 'once')
  const [first] = queues.receive('outbox.fifo', 1)
  queues.delete('outbox.fifo', first?.receiptHandle ?? '')
  pass(5 * MINUTE_MS - 1)
  send('nudge', 'a', 'once')
  expect(queues.messages('outbox.fifo')).toEqual([])
  pass(1)
  send('nudge', 'a', 'once')
  expect(queues.messages('outbox.fifo')).toHaveLength(1)
})

test('equal requests give equal ids, so a seed is one history', () => {
  const history = () => {
    const { queues, send } = queueWith()
    return [send('one', 'a', '1'), queues.receive('outbox.fifo', 1)]
  }
  expect(history()).toEqual(history())
})
