import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSqs } from '../../../../infra/local/sqs/sqs.ts'
import { sqsContract } from './contract.ts'

const minuteMs = 60_000

function clientFor(endpoint: string): SQSClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return new SQSClient({ endpoint, region: 'local', credentials, maxAttempts: 1 })
}

/** Far from the machine's own time, so that code that asks the wrong clock fails. */
function virtualClock() {
  let at = Date.parse('2031-05-05T00:00:00Z')
  return {
    now: () => at,
    advance(ms: number) {
      at += ms
    },
  }
}

sqsContract('infra/local/sqs in memory', async () => {
  const clock = virtualClock()
  const service = await startSqs({ now: clock.now })
  return {
    client: clientFor(service.url),
    passTime: async (ms) => clock.advance(ms),
    stop: () => service.close(),
  }
})

describe('over minutes and days, on a virtual clock', () => {
  const clock = virtualClock()
  let service: Awaited<ReturnType<typeof startSqs>>
  let client: SQSClient

  beforeEach(async () => {
    service = await startSqs({ now: clock.now })
    client = clientFor(service.url)
  })
  afterEach(() => service.close())

  async function queue(QueueName: string, Attributes: Record<string, string> = {}): Promise<string> {
    return String((await client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl)
  }
  const send = (QueueUrl: string, MessageBody: string, ids: object = {}) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...ids }))
  const receive = async (QueueUrl: string, VisibilityTimeout = 0) =>
    (await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout }))).Messages ??
    []
  const bodies = async (url: string) => (await receive(url)).map(({ Body }) => Body)

  it('AW31: a deduplication id counts for five minutes from the first send, then the message is a new one', async () => {
    const url = await queue('outbox.fifo', { FifoQueue: 'true' })
    const ids = { MessageGroupId: 'pr-1', MessageDeduplicationId: 'once' }
    const first = await send(url, 'nudge', ids)
    clock.advance(5 * minuteMs - 1)
    expect((await send(url, 'nudge', ids)).MessageId).toBe(first.MessageId)
    clock.advance(1)
    expect((await send(url, 'nudge', ids)).MessageId).not.toBe(first.MessageId)
    expect(await bodies(url)).toEqual(['nudge', 'nudge'])
  })

  it('with DeduplicationScope messageGroup, the same id in two groups is two messages', async () => {
    const url = await queue('inbox.fifo', { FifoQueue: 'true', DeduplicationScope: 'messageGroup' })
    for (const MessageGroupId of ['a', 'b', 'a'])
      await send(url, MessageGroupId, { MessageGroupId, MessageDeduplicationId: 'd' })
    expect(await bodies(url)).toEqual(['a', 'b'])
  })

  it('a message is gone when its retention has passed, also while in flight', async () => {
    const url = await queue('short', { MessageRetentionPeriod: '60' })
    await send(url, 'forgotten')
    await receive(url, 600)
    clock.advance(minuteMs)
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }))
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' })
    clock.advance(10 * minuteMs)
    expect(await bodies(url)).toEqual([])
  })

  it('the retention clock runs on in the dead letters of a standard queue, and starts again in those of a FIFO queue', async () => {
    for (const [suffix, kind, ids] of [
      ['', {}, {}],
      ['.fifo', { FifoQueue: 'true' }, { MessageGroupId: 'g', MessageDeduplicationId: 'd' }],
    ] as const) {
      const dead = await queue(`dead${suffix}`, { ...kind, MessageRetentionPeriod: '120' })
      const RedrivePolicy = JSON.stringify({
        deadLetterTargetArn: `arn:aws:sqs:local:000000000000:dead${suffix}`,
        maxReceiveCount: 1,
      })
      const source = await queue(`source${suffix}`, { ...kind, RedrivePolicy })
      await send(source, 'poison', ids)
      await receive(source)
      clock.advance(90_000)
      expect(await bodies(source)).toEqual([])
      clock.advance(90_000)
      expect(await bodies(dead)).toEqual(suffix === '' ? [] : ['poison'])
    }
  })

  it("visibility can't be stretched beyond twelve hours from the receive", async () => {
    const url = await queue('long')
    await send(url, 'work')
    const [message] = await receive(url, 43_200)
    clock.advance(minuteMs)
    const stretch = (VisibilityTimeout: number) =>
      client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout }),
      )
    await expect(stretch(43_200)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    await stretch(43_200 - 60)
  })

  it('a queue is purged once a minute', async () => {
    const url = await queue('purged')
    const purge = () => client.send(new PurgeQueueCommand({ QueueUrl: url }))
    await purge()
    await expect(purge()).rejects.toMatchObject({ name: 'PurgeQueueInProgress' })
    clock.advance(minuteMs)
    await purge()
  })

  it('an empty RedrivePolicy takes the dead-letter queue away', async () => {
    await queue('dead')
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:000000000000:dead',
      maxReceiveCount: '1',
    })
    const url = await queue('source', { RedrivePolicy })
    await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { RedrivePolicy: '' } }))
    await send(url, 'kept')
    await receive(url)
    expect(await bodies(url)).toEqual(['kept'])
  })

  it('an old handle of a standard queue does not delete what another consumer has received since', async () => {
    const url = await queue('shared')
    await send(url, 'work')
    const [mine] = await receive(url)
    await receive(url)
    await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: mine?.ReceiptHandle }))
    expect(await bodies(url)).toEqual(['work'])
  })
})

describe('the wire', () => {
  it('the queue URL has the host by which the caller came', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url.replace('127.0.0.1', 'localhost'))
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'here' }))
    expect(QueueUrl).toBe(`${service.url.replace('127.0.0.1', 'localhost')}/000000000000/here`)
    await service.close()
  })

  it('what is not an SQS request is refused with a code, and the service goes on', async () => {
    const service = await startSqs({})
    const post = async (target: string, body: string) => {
      const response = await fetch(service.url, { method: 'POST', headers: { 'x-amz-target': target }, body })
      return { status: response.status, ...((await response.json()) as object) }
    }
    const unknown = 'com.amazonaws.sqs#UnknownOperationException'
    expect(await post('AmazonSQS.StartMessageMoveTask', '{}')).toMatchObject({ status: 400, __type: unknown })
    expect(await post('AmazonSQS.constructor', '{}')).toMatchObject({ status: 400, __type: unknown })
    const malformed = 'com.amazonaws.sqs#SerializationException'
    expect(await post('AmazonSQS.SendMessage', '{')).toMatchObject({ status: 400, __type: malformed })
    expect(await post('AmazonSQS.CreateQueue', '{"QueueName":1}')).toMatchObject({ status: 400, __type: malformed })
    const tooLarge = 'com.amazonaws.sqs#RequestEntityTooLarge'
    expect(await post('AmazonSQS.SendMessage', ' '.repeat(8_000_000))).toMatchObject({ status: 413, __type: tooLarge })
    expect(await post('AmazonSQS.ListQueues', '{}')).toMatchObject({ status: 200, QueueUrls: [] })
    await service.close()
  })

  it('a consumer that hangs up while it waits takes no message with it', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url)
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'left' }))
    const poll = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 })
    const { port, host } = new URL(service.url)
    const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true })
    socket.resume()
    socket.write(
      `POST / HTTP/1.1\r\nHost: ${host}\r\nX-Amz-Target: AmazonSQS.ReceiveMessage\r\nContent-Length: ${poll.length}\r\n\r\n${poll}`,
    )
    await client.send(new ListQueuesCommand({})) // answered after it: the poll has begun
    socket.end()
    await once(socket, 'close') // the service has hung up too
    await client.send(new ListQueuesCommand({}))
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'for the next one' }))
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }))
    expect(Messages?.[0]?.Body).toBe('for the next one')
    await service.close()
  })

  it('closing ends long polls at once, and closing twice is fine', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url)
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'closing' }))
    const waiting = client
      .send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))
      .catch((error: unknown) => error)
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', DelaySeconds: 900 }))
    await Promise.all([service.close(), service.close()])
    await waiting
  })
})

describe('on disk', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-sqs-'))
  })
  const children = new Set<ChildProcess>()
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
    await rm(folder, { recursive: true })
  })

  /** A process of its own that serves the file and prints its URL. */
  async function startProcess(file: string) {
    const module = new URL('../../../../infra/local/sqs/sqs.ts', import.meta.url).href
    const script = `import { startSqs } from '${module}'; console.log((await startSqs({ file: ${JSON.stringify(file)} })).url)`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
    return { client: clientFor(url), child }
  }

  it('what was answered for survives kill -9: messages, order, flights, counts and deduplication', async () => {
    const file = join(folder, 'state', 'sqs.sqlite')
    const { client, child } = await startProcess(file)
    const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true', VisibilityTimeout: '600' }
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'kept.fifo', Attributes }))
    const send = (to: SQSClient, MessageBody: string, MessageGroupId: string) =>
      to.send(new SendMessageCommand({ QueueUrl: QueueUrl, MessageBody, MessageGroupId }))
    await send(client, 'a1', 'a')
    await send(client, 'a2', 'a')
    await send(client, 'b1', 'b')
    const taken = await client.send(new ReceiveMessageCommand({ QueueUrl }))
    expect(taken.Messages?.[0]?.Body).toBe('a1')
    child.kill('SIGKILL')
    await once(child, 'exit')

    const service = await startSqs({ file })
    const url = `${service.url}/000000000000/kept.fifo`
    const again = clientFor(service.url)
    const receive = async () =>
      (await again.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }))).Messages?.map(
        ({ Body }) => Body,
      )
    await again.send(new SendMessageCommand({ QueueUrl: url, MessageBody: 'b1', MessageGroupId: 'b' }))
    expect(await receive()).toEqual(['b1'])
    await again.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: taken.Messages?.[0]?.ReceiptHandle }))
    expect(await receive()).toEqual(['a2'])
    await service.close()
  })

  it('with its consumers in the same process, what a killed one had in flight comes again at once, its group first', async () => {
    const file = join(folder, 'sqs.sqlite')
    const { client, child } = await startProcess(file)
    const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true', VisibilityTimeout: '600' }
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'taken.fifo', Attributes }))
    for (const MessageBody of ['a1', 'a2']) {
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'a' }))
    }
    await client.send(new ReceiveMessageCommand({ QueueUrl }))
    child.kill('SIGKILL')
    await once(child, 'exit')

    const service = await startSqs({ file, consumersWithin: true })
    const { Messages = [] } = await clientFor(service.url).send(
      new ReceiveMessageCommand({
        QueueUrl: `${service.url}/000000000000/taken.fifo`,
        MaxNumberOfMessages: 10,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
    )
    expect(Messages.map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount])).toEqual([
      ['a1', '2'],
      ['a2', '1'],
    ])
    await service.close()
  })

  it('a second process on the same file is refused, and the first goes on', async () => {
    const file = join(folder, 'sqs.sqlite')
    const { client, child } = await startProcess(file)
    await expect(startSqs({ file })).rejects.toThrow(/^sqs_state_in_use: .*Stop that one/)
    await client.send(new CreateQueueCommand({ QueueName: 'fine' }))
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  it('a port in use is refused, and the file is free again', async () => {
    const file = join(folder, 'sqs.sqlite')
    const other = await startSqs({})
    await expect(startSqs({ file, port: Number(new URL(other.url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    })
    await other.close()
    await (await startSqs({ file })).close()
  })
})
