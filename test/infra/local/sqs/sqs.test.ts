import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  ChangeMessageVisibilityBatchCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
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

/** Far from the machine's own time, so that code with the wrong clock fails. */
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

  async function queue(name: string, attributes: Record<string, string> = {}): Promise<string> {
    const Attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes }
    return String((await client.send(new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes }))).QueueUrl)
  }
  const send = (QueueUrl: string, MessageBody: string, ids: object = {}) =>
    client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: MessageBody, ...ids }))
  const receive = async (QueueUrl: string) =>
    (await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))).Messages ?? []
  const bodies = async (url: string) => (await receive(url)).map(({ Body }) => Body)

  it('AW31: a deduplication id counts for five minutes from the first send, then the message is new', async () => {
    const url = await queue('outbox')
    const ids = { MessageGroupId: 'pr-1', MessageDeduplicationId: 'once' }
    const first = await send(url, 'nudge', ids)
    clock.advance(5 * minuteMs - 1)
    expect((await send(url, 'nudge', ids)).MessageId).toBe(first.MessageId)
    clock.advance(1)
    expect((await send(url, 'nudge', ids)).MessageId).not.toBe(first.MessageId)
    expect(await bodies(url)).toEqual(['nudge', 'nudge'])
  })

  it('with DeduplicationScope messageGroup, the same id in two groups is two messages', async () => {
    const url = await queue('inbox', { DeduplicationScope: 'messageGroup' })
    for (const MessageGroupId of ['a', 'b', 'a'])
      await send(url, MessageGroupId, { MessageGroupId, MessageDeduplicationId: 'd' })
    expect(await bodies(url)).toEqual(['a', 'b'])
  })

  it('a message is gone when its retention has passed, also while in flight', async () => {
    const url = await queue('short', { MessageRetentionPeriod: '60', VisibilityTimeout: '600' })
    await send(url, 'forgotten')
    await receive(url)
    clock.advance(minuteMs)
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }))
    expect(Attributes).toMatchObject({ ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' })
    clock.advance(10 * minuteMs)
    expect(await bodies(url)).toEqual([])
  })

  it('the retention clock starts again among the dead letters', async () => {
    const dead = await queue('dead', { MessageRetentionPeriod: '120' })
    const deadLetterTargetArn = 'arn:aws:sqs:local:000000000000:dead.fifo'
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 })
    const source = await queue('source', { RedrivePolicy, VisibilityTimeout: '0' })
    await send(source, 'poison')
    await receive(source)
    clock.advance(90_000)
    expect(await bodies(source)).toEqual([])
    clock.advance(90_000)
    expect(await bodies(dead)).toEqual(['poison'])
  })

  it('visibility ends at most twelve hours after the receive', async () => {
    const url = await queue('long', { VisibilityTimeout: '43200' })
    await send(url, 'work')
    const [message] = await receive(url)
    clock.advance(minuteMs)
    const stretch = async (VisibilityTimeout: number) => {
      const Entries = [{ Id: 'only', ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout }]
      return (await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }))).Failed
    }
    expect(await stretch(43_200)).toMatchObject([{ Code: 'InvalidParameterValue' }])
    expect(await stretch(-1)).toMatchObject([{ Code: 'InvalidParameterValue' }])
    expect(await stretch(43_200 - 60)).toEqual([])
  })

  it('an old handle deletes nothing of a message that another consumer has received since', async () => {
    const url = await queue('shared', { VisibilityTimeout: '0' })
    await send(url, 'work')
    const [mine] = await receive(url)
    await receive(url)
    const Entries = [{ Id: 'only', ReceiptHandle: mine?.ReceiptHandle }]
    const { Failed } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }))
    expect(Failed).toMatchObject([{ Code: 'InvalidParameterValue' }])
    expect(await bodies(url)).toEqual(['work'])
  })
})

const newQueue = (name: string) =>
  new CreateQueueCommand({
    QueueName: `${name}.fifo`,
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  })

describe('the wire', () => {
  it('the queue URL has the host by which the caller came', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url.replace('127.0.0.1', 'localhost'))
    const { QueueUrl } = await client.send(newQueue('here'))
    expect(QueueUrl).toBe(`${service.url.replace('127.0.0.1', 'localhost')}/000000000000/here.fifo`)
    await service.close()
  })

  it('a request foreign to SQS is refused with a code, and the service goes on', async () => {
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
    const missing = { status: 400, __type: 'com.amazonaws.sqs#QueueDoesNotExist' }
    expect(await post('AmazonSQS.GetQueueUrl', '{"QueueName":"none"}')).toMatchObject(missing)
    await service.close()
  })

  it('a consumer that hangs up during a wait takes no message away', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url)
    const { QueueUrl } = await client.send(newQueue('left'))
    const poll = JSON.stringify({ QueueUrl, WaitTimeSeconds: 20 })
    const { port, host } = new URL(service.url)
    const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true })
    socket.resume()
    socket.write(
      `POST / HTTP/1.1\r\nHost: ${host}\r\nX-Amz-Target: AmazonSQS.ReceiveMessage\r\nContent-Length: ${poll.length}\r\n\r\n${poll}`,
    )
    const ask = () => client.send(new GetQueueUrlCommand({ QueueName: 'left.fifo' }))
    await ask() // answered after the start of the poll
    socket.end()
    await once(socket, 'close') // the service has hung up too
    await ask()
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'for the next one', MessageGroupId: 'g' }))
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }))
    expect(Messages?.[0]?.Body).toBe('for the next one')
    await service.close()
  })

  it('closing ends long polls at once, and closing twice is fine', async () => {
    const service = await startSqs({})
    const client = clientFor(service.url)
    const { QueueUrl } = await client.send(newQueue('closing'))
    const waiting = client
      .send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))
      .catch((error: unknown) => error)
    await client.send(new GetQueueUrlCommand({ QueueName: 'closing.fifo' })) // answered after the start of the poll
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

  /** A process that serves the file and prints the URL. */
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

  it('answered state survives kill -9: messages, order, flights, counts and deduplication', async () => {
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
    const Entries = [{ Id: 'only', ReceiptHandle: taken.Messages?.[0]?.ReceiptHandle }]
    await again.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }))
    expect(await receive()).toEqual(['a2'])
    await service.close()
  })

  it('with consumers in the same process, messages in flight at a kill come again at once, their group first', async () => {
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
    await expect(startSqs({ file })).rejects.toThrow(/^sqs_state_in_use: .*Stop that process/)
    await client.send(newQueue('fine'))
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
})
