/** What Muster relies on in SQS, as promises that every implementation of it must keep, seen through the real SDK. */
import { createHash, randomUUID } from 'node:crypto'
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

export interface SqsSubject {
  readonly client: SQSClient
  /** Lets this much of the service's time pass: a virtual clock moves, a real one is waited for. At most 6 s a call. */
  passTime(ms: number): Promise<void>
  stop(): Promise<void>
}

/** Queues with the shortest spans that still tell before from after, so that a real clock is bearable. */
const shortSeconds = 3

export function sqsContract(name: string, start: () => Promise<SqsSubject>): void {
  describe(`${name} keeps the contract of SQS`, () => {
    let subject: SqsSubject
    const prefix = `contract-${randomUUID().slice(0, 8)}`
    let made = 0

    beforeAll(async () => {
      subject = await start()
    })
    afterAll(() => subject.stop())

    async function standard(attributes: Record<string, string> = {}): Promise<string> {
      const created = await subject.client.send(
        new CreateQueueCommand({ QueueName: `${prefix}-${++made}`, Attributes: attributes }),
      )
      return String(created.QueueUrl)
    }

    async function fifo(attributes: Record<string, string> = {}): Promise<string> {
      const created = await subject.client.send(
        new CreateQueueCommand({
          QueueName: `${prefix}-${++made}.fifo`,
          Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes },
        }),
      )
      return String(created.QueueUrl)
    }

    const attributesOf = async (QueueUrl: string): Promise<Record<string, string | undefined>> =>
      (await subject.client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes ?? {}

    const send = (QueueUrl: string, MessageBody: string, more: Partial<SendMessageCommandInput> = {}) =>
      subject.client.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }))

    async function receive(QueueUrl: string, more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
      const received = await subject.client.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
          ...more,
        }),
      )
      return received.Messages ?? []
    }

    async function receiveOne(QueueUrl: string, more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message> {
      const [message] = await receive(QueueUrl, { MaxNumberOfMessages: 1, ...more })
      if (!message) throw new Error(`Expected a message in ${QueueUrl}, got none`)
      return message
    }

    const remove = (QueueUrl: string, { ReceiptHandle }: Message) =>
      subject.client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))

    const extend = (QueueUrl: string, { ReceiptHandle }: Message, VisibilityTimeout: number) =>
      subject.client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }))

    const bodies = (messages: Message[]) => messages.map(({ Body }) => Body)

    /** Holds a source with a dead-letter queue after `receivesMax` receives. */
    async function withDeadLetters(make: typeof standard, receivesMax: number) {
      const deadLetters = await make()
      const arn = (await attributesOf(deadLetters)).QueueArn
      const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: receivesMax })
      const source = await make({ RedrivePolicy, VisibilityTimeout: '0' })
      return { source, deadLetters }
    }

    describe('queues', () => {
      it('creating a queue again with the same attributes returns the same URL', async () => {
        const first = await standard({ VisibilityTimeout: '45' })
        const QueueName = first.slice(first.lastIndexOf('/') + 1)
        const again = await subject.client.send(
          new CreateQueueCommand({ QueueName, Attributes: { VisibilityTimeout: '45' } }),
        )
        expect(again.QueueUrl).toBe(first)
      })

      it('creating a queue again with another attribute is refused and changes nothing', async () => {
        const first = await standard({ VisibilityTimeout: '45' })
        const QueueName = first.slice(first.lastIndexOf('/') + 1)
        const again = new CreateQueueCommand({ QueueName, Attributes: { VisibilityTimeout: '46' } })
        await expect(subject.client.send(again)).rejects.toMatchObject({ name: 'QueueNameExists' })
        expect((await attributesOf(first)).VisibilityTimeout).toBe('45')
      })

      it('a URL is found by name, and the SDK reaches the queue by it', async () => {
        const created = await fifo()
        const QueueName = created.slice(created.lastIndexOf('/') + 1)
        const found = await subject.client.send(new GetQueueUrlCommand({ QueueName }))
        expect(found.QueueUrl).toBe(created)
        await send(created, 'reached', { MessageGroupId: 'g' })
        expect(bodies(await receive(created))).toEqual(['reached'])
      })

      it('an unknown queue is QueueDoesNotExist, with the code of the query protocol beside it', async () => {
        const unknown = new GetQueueUrlCommand({ QueueName: `${prefix}-none` })
        await expect(subject.client.send(unknown)).rejects.toMatchObject({
          name: 'QueueDoesNotExist',
          Error: { Code: 'AWS.SimpleQueueService.NonExistentQueue' },
        })
      })

      it('queues are listed by prefix', async () => {
        const url = await standard()
        const QueueNamePrefix = url.slice(url.lastIndexOf('/') + 1)
        const listed = await subject.client.send(new ListQueuesCommand({ QueueNamePrefix }))
        expect(listed.QueueUrls).toContain(url)
        const none = await subject.client.send(new ListQueuesCommand({ QueueNamePrefix: `${prefix}-none` }))
        expect(none.QueueUrls ?? []).toEqual([])
      })

      it('attributes that are set are returned and take effect', async () => {
        const url = await standard()
        const Attributes = { VisibilityTimeout: '0', DelaySeconds: '0' }
        await subject.client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes }))
        expect(await attributesOf(url)).toMatchObject(Attributes)
        await send(url, 'still visible')
        await receiveOne(url)
        expect(bodies(await receive(url))).toEqual(['still visible'])
      })

      it('unknown attributes and values out of range are refused by name', async () => {
        const unknown = new CreateQueueCommand({
          QueueName: `${prefix}-bad`,
          Attributes: { Colour: 'red' } as Record<string, string>,
        })
        await expect(subject.client.send(unknown)).rejects.toMatchObject({ name: 'InvalidAttributeName' })
        const outside = new CreateQueueCommand({
          QueueName: `${prefix}-bad`,
          Attributes: { VisibilityTimeout: '43201' },
        })
        await expect(subject.client.send(outside)).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
      })

      it('messages are counted as visible, in flight and delayed', async () => {
        const url = await standard()
        await send(url, 'one')
        await send(url, 'two')
        await send(url, 'later', { DelaySeconds: 900 })
        await receiveOne(url)
        expect(await attributesOf(url)).toMatchObject({
          ApproximateNumberOfMessages: '1',
          ApproximateNumberOfMessagesNotVisible: '1',
          ApproximateNumberOfMessagesDelayed: '1',
        })
      })

      it('purging removes what is visible and what is in flight', async () => {
        const url = await standard()
        await send(url, 'in flight')
        const message = await receiveOne(url)
        await send(url, 'visible')
        await subject.client.send(new PurgeQueueCommand({ QueueUrl: url }))
        expect(await receive(url)).toEqual([])
        await expect(extend(url, message, 0)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      })

      it('a deleted queue is gone', async () => {
        const url = await standard()
        await subject.client.send(new DeleteQueueCommand({ QueueUrl: url }))
        await expect(send(url, 'into nothing')).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
      })
    })

    describe('one message', () => {
      it('is received with its body, its digest, when it was sent and how often it was received', async () => {
        const url = await standard({ VisibilityTimeout: '0' })
        const body = 'naïve ✓ 🦊 "quoted" <xml> \t\n'
        const sent = await send(url, body)
        await receiveOne(url)
        const message = await receiveOne(url)
        expect(message).toMatchObject({
          MessageId: sent.MessageId,
          Body: body,
          MD5OfBody: createHash('md5').update(body).digest('hex'),
          Attributes: {
            ApproximateReceiveCount: '2',
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          },
        })
      })

      it('carries its attributes, and their digest is the documented one', async () => {
        const url = await standard()
        const MessageAttributes = {
          kind: { DataType: 'String', StringValue: 'nudge' },
          'size.bytes': { DataType: 'Number', StringValue: '42' },
          raw: { DataType: 'Binary.gzip', BinaryValue: Uint8Array.of(0, 255, 7) },
        }
        const sent = await send(url, 'with attributes', { MessageAttributes })
        const message = await receiveOne(url)
        expect(message.MessageAttributes).toMatchObject(MessageAttributes)
        // by hand from the guide: kind, raw, size.bytes, each as length+name, length+type, 1 or 2, length+value
        const hex =
          '000000046b696e64' +
          '00000006537472696e67' +
          '01' +
          '000000056e75646765' +
          '00000003726177' +
          '0000000b42696e6172792e677a6970' +
          '02' +
          '0000000300ff07' +
          '0000000a73697a652e6279746573' +
          '000000064e756d626572' +
          '01' +
          '000000023432'
        const digest = createHash('md5').update(Buffer.from(hex, 'hex')).digest('hex')
        expect(sent.MD5OfMessageAttributes).toBe(digest)
        expect(message.MD5OfMessageAttributes).toBe(digest)
      })

      it('shows only the attributes that were asked for', async () => {
        const url = await standard({ VisibilityTimeout: '0' })
        const text = { DataType: 'String', StringValue: 'x' }
        await send(url, 'body', { MessageAttributes: { 'a.one': text, 'a.two': text, b: text } })
        const none = await receiveOne(url, { MessageAttributeNames: [], MessageSystemAttributeNames: [] })
        expect(none.MessageAttributes).toBeUndefined()
        expect(none.Attributes).toBeUndefined()
        const some = await receiveOne(url, {
          MessageAttributeNames: ['a.*'],
          MessageSystemAttributeNames: ['SentTimestamp'],
        })
        expect(Object.keys(some.MessageAttributes ?? {}).sort()).toEqual(['a.one', 'a.two'])
        expect(Object.keys(some.Attributes ?? {})).toEqual(['SentTimestamp'])
      })

      it('may have 1 MiB, and not a byte more', async () => {
        const url = await standard()
        const body = 'é'.repeat(524_288)
        await send(url, body)
        expect((await receiveOne(url)).Body).toBe(body)
        await expect(send(url, `${body}x`)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      })

      it('is refused when empty, and with characters that XML 1.0 lacks', async () => {
        const url = await standard()
        await expect(send(url, '')).rejects.toMatchObject({ name: 'MissingParameter' })
        await expect(send(url, 'nul \u0000')).rejects.toMatchObject({ name: 'InvalidMessageContents' })
      })
    })

    describe('visibility', () => {
      it('a received message is hidden until its timeout, then comes again', async () => {
        const url = await standard({ VisibilityTimeout: String(shortSeconds) })
        await send(url, 'again')
        await receiveOne(url)
        expect(await receive(url)).toEqual([])
        await subject.passTime(shortSeconds * 1_000 + 100)
        expect((await receiveOne(url)).Attributes?.ApproximateReceiveCount).toBe('2')
      })

      it("a receive may ask for another timeout than the queue's", async () => {
        const url = await standard({ VisibilityTimeout: '0' })
        await send(url, 'held')
        await receiveOne(url, { VisibilityTimeout: 60 })
        expect(await receive(url)).toEqual([])
      })

      it('an extended message stays hidden past its first timeout', async () => {
        const url = await standard({ VisibilityTimeout: String(shortSeconds) })
        await send(url, 'long work')
        await extend(url, await receiveOne(url), 60)
        await subject.passTime(shortSeconds * 1_000 + 100)
        expect(await receive(url)).toEqual([])
      })

      it('a visibility of 0 gives the message back at once, and loses nothing', async () => {
        const url = await standard()
        await send(url, 'given back')
        await extend(url, await receiveOne(url), 0)
        const again = await receiveOne(url)
        expect(again).toMatchObject({ Body: 'given back', Attributes: { ApproximateReceiveCount: '2' } })
      })

      it('a message that is not in flight has no visibility to change', async () => {
        const url = await standard()
        await send(url, 'given back')
        const message = await receiveOne(url)
        await extend(url, message, 0)
        await expect(extend(url, message, 10)).rejects.toMatchObject({ name: 'MessageNotInflight' })
      })

      it('a deleted message never comes again, and deleting it twice is no error', async () => {
        const url = await standard({ VisibilityTimeout: '0' })
        await send(url, 'done')
        const message = await receiveOne(url)
        await remove(url, message)
        await remove(url, message)
        expect(await receive(url)).toEqual([])
      })

      it('a handle that was never given is ReceiptHandleIsInvalid', async () => {
        const url = await standard()
        await expect(remove(url, { ReceiptHandle: 'made up' })).rejects.toMatchObject({
          name: 'ReceiptHandleIsInvalid',
        })
      })

      it('a delayed message is hidden until its delay has passed; its own delay wins over that of the queue', async () => {
        const url = await standard({ DelaySeconds: String(shortSeconds) })
        await send(url, 'delayed')
        await send(url, 'at once', { DelaySeconds: 0 })
        expect(bodies(await receive(url))).toEqual(['at once'])
        await subject.passTime(shortSeconds * 1_000 + 100)
        expect(bodies(await receive(url))).toEqual(['delayed'])
      })
    })

    describe('long polls', () => {
      it('a waiting receive gets a message that is sent while it waits', async () => {
        const url = await standard()
        const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
        await send(url, 'awaited')
        expect((await waiting).Body).toBe('awaited')
      })

      it('a waiting receive gets a message that another consumer gives back', async () => {
        const url = await standard()
        await send(url, 'shared')
        const message = await receiveOne(url)
        const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
        await extend(url, message, 0)
        expect((await waiting).Body).toBe('shared')
      })

      it('a waiting receive gets the next of its group when the one before is deleted', async () => {
        const url = await fifo()
        await send(url, '1', { MessageGroupId: 'g' })
        await send(url, '2', { MessageGroupId: 'g' })
        const first = await receiveOne(url)
        const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
        await remove(url, first)
        expect((await waiting).Body).toBe('2')
      })

      it('a receive on an empty queue ends after the wait, with nothing', async () => {
        const url = await standard({ ReceiveMessageWaitTimeSeconds: '20' })
        expect(await receive(url, { WaitTimeSeconds: 1 })).toEqual([])
      })

      it('of two waiting receives, one gets the message', async () => {
        const url = await standard()
        const both = [1, 2].map(() => receive(url, { WaitTimeSeconds: 1 }))
        await send(url, 'for one')
        expect((await Promise.all(both)).flat()).toHaveLength(1)
      })
    })

    describe('FIFO', () => {
      it('messages of a group come in the order in which they were sent', async () => {
        const url = await fifo()
        const sent = Array.from({ length: 10 }, (_, index) => `m${index}`)
        for (const body of sent) await send(url, body, { MessageGroupId: 'g' })
        const received = await receive(url)
        expect(bodies(received)).toEqual(sent)
        const numbers = received.map(({ Attributes }) => String(Attributes?.SequenceNumber))
        expect(numbers).toEqual([...numbers].sort())
        expect(received[0]?.Attributes).toMatchObject({
          MessageGroupId: 'g',
          MessageDeduplicationId: createHash('sha256').update('m0').digest('hex'),
        })
      })

      it('a group with a message in flight is locked, and other groups go on', async () => {
        const url = await fifo()
        await send(url, 'a1', { MessageGroupId: 'a' })
        await send(url, 'a2', { MessageGroupId: 'a' })
        await send(url, 'b1', { MessageGroupId: 'b' })
        const first = await receiveOne(url)
        expect(first.Body).toBe('a1')
        expect(bodies(await receive(url))).toEqual(['b1'])
        await remove(url, first)
        expect(bodies(await receive(url))).toEqual(['a2'])
      })

      it('a message whose visibility ended comes again before those behind it', async () => {
        const url = await fifo({ VisibilityTimeout: String(shortSeconds) })
        await send(url, '1', { MessageGroupId: 'g' })
        await send(url, '2', { MessageGroupId: 'g' })
        await receiveOne(url)
        await subject.passTime(shortSeconds * 1_000 + 100)
        expect(bodies(await receive(url))).toEqual(['1', '2'])
      })

      it('the lock holds until the last message in flight of the group is back', async () => {
        const url = await fifo()
        for (const body of ['1', '2', '3']) await send(url, body, { MessageGroupId: 'g' })
        const [first, second] = await receive(url, { MaxNumberOfMessages: 2 })
        await extend(url, first as Message, 0)
        expect(await receive(url)).toEqual([])
        await extend(url, second as Message, 0)
        expect(bodies(await receive(url))).toEqual(['1', '2', '3'])
      })

      it('the same deduplication id is accepted once; the answer is that of the first send', async () => {
        const url = await fifo({ ContentBasedDeduplication: 'false' })
        const ids = { MessageGroupId: 'g', MessageDeduplicationId: 'once' }
        const first = await send(url, 'first', ids)
        const second = await send(url, 'second', ids)
        expect(second).toMatchObject({ MessageId: first.MessageId, SequenceNumber: first.SequenceNumber })
        const received = await receive(url)
        expect(bodies(received)).toEqual(['first'])
        for (const message of received) await remove(url, message)
        await send(url, 'third, after the deletion', ids)
        expect(await receive(url)).toEqual([])
      })

      it('without an id, equal bodies are one message if the queue deduplicates by content, and refused if not', async () => {
        const byContent = await fifo()
        await send(byContent, 'same', { MessageGroupId: 'g' })
        await send(byContent, 'same', { MessageGroupId: 'g' })
        expect(bodies(await receive(byContent))).toEqual(['same'])
        const byId = await fifo({ ContentBasedDeduplication: 'false' })
        await expect(send(byId, 'no id', { MessageGroupId: 'g' })).rejects.toMatchObject({
          name: 'InvalidParameterValue',
        })
      })

      it('a message needs a group, and has no delay of its own', async () => {
        const url = await fifo()
        await expect(send(url, 'no group')).rejects.toMatchObject({ name: 'MissingParameter' })
        const delayed = send(url, 'delayed', { MessageGroupId: 'g', DelaySeconds: 1 })
        await expect(delayed).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      })

      it('an expired handle deletes nothing, and says so', async () => {
        const url = await fifo({ VisibilityTimeout: String(shortSeconds) })
        await send(url, 'slow', { MessageGroupId: 'g' })
        const message = await receiveOne(url)
        await subject.passTime(shortSeconds * 1_000 + 100)
        await expect(remove(url, message)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
        expect(bodies(await receive(url))).toEqual(['slow'])
      })

      it('a name without .fifo is refused', async () => {
        const create = new CreateQueueCommand({ QueueName: `${prefix}-plain`, Attributes: { FifoQueue: 'true' } })
        await expect(subject.client.send(create)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      })
    })

    describe('dead letters', () => {
      it.each([2, 3])('a message moves when its receive count would exceed %i, not before', async (receivesMax) => {
        const { source, deadLetters } = await withDeadLetters(standard, receivesMax)
        await send(source, 'poison')
        for (let count = 1; count <= receivesMax; count++) {
          expect((await receiveOne(source)).Attributes?.ApproximateReceiveCount).toBe(String(count))
          expect(await receive(deadLetters)).toEqual([])
        }
        expect(await receive(source)).toEqual([])
        const dead = await receiveOne(deadLetters)
        expect(dead.Body).toBe('poison')
        expect(dead.Attributes?.DeadLetterQueueSourceArn).toBe((await attributesOf(source)).QueueArn)
      })

      it('in a FIFO queue the next of the group follows at once', async () => {
        const { source, deadLetters } = await withDeadLetters(fifo, 1)
        await send(source, 'poison', { MessageGroupId: 'g' })
        await send(source, 'good', { MessageGroupId: 'g' })
        await receiveOne(source)
        expect(bodies(await receive(source))).toEqual(['good'])
        expect((await receiveOne(deadLetters)).Attributes?.MessageGroupId).toBe('g')
      })

      it('a dead-letter queue that does not exist is refused', async () => {
        const deadLetterTargetArn = String((await attributesOf(await standard())).QueueArn).concat('-none')
        const made = standard({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }) })
        await expect(made).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      })
    })

    describe('batches', () => {
      it('each entry of a send succeeds or fails for itself, by its id', async () => {
        const url = await standard()
        const Entries = [
          { Id: 'good', MessageBody: 'kept' },
          { Id: 'bad', MessageBody: 'refused', DelaySeconds: 901 },
          { Id: 'also-good', MessageBody: 'kept too' },
        ]
        const answer = await subject.client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }))
        expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['good', 'also-good'])
        expect(answer.Failed).toMatchObject([{ Id: 'bad', SenderFault: true, Code: 'InvalidParameterValue' }])
        expect(bodies(await receive(url)).sort()).toEqual(['kept', 'kept too'])
      })

      it('a FIFO batch keeps its order', async () => {
        const url = await fifo()
        const Entries = ['3', '1', '2'].map((body) => ({ Id: body, MessageBody: body, MessageGroupId: 'g' }))
        await subject.client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }))
        expect(bodies(await receive(url))).toEqual(['3', '1', '2'])
      })

      it('deletes and visibility changes fail by entry', async () => {
        const url = await standard()
        for (const body of ['a', 'b']) await send(url, body)
        const [first, second] = await receive(url)
        const changed = await subject.client.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl: url,
            Entries: [
              { Id: 'back', ReceiptHandle: first?.ReceiptHandle, VisibilityTimeout: 0 },
              { Id: 'bad', ReceiptHandle: 'made up', VisibilityTimeout: 0 },
            ],
          }),
        )
        expect(changed.Successful).toEqual([{ Id: 'back' }])
        expect(changed.Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid' }])
        const deleted = await subject.client.send(
          new DeleteMessageBatchCommand({
            QueueUrl: url,
            Entries: [
              { Id: 'bad', ReceiptHandle: 'made up' },
              { Id: 'done', ReceiptHandle: second?.ReceiptHandle },
            ],
          }),
        )
        expect(deleted.Successful).toEqual([{ Id: 'done' }])
        expect(deleted.Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid' }])
        expect(bodies(await receive(url))).toEqual([first?.Body])
      })

      it('a batch without entries, with too many, with equal ids or too long is refused whole', async () => {
        const url = await standard()
        const batch = (bodiesById: [Id: string, MessageBody: string][]) =>
          subject.client.send(
            new SendMessageBatchCommand({
              QueueUrl: url,
              Entries: bodiesById.map(([Id, MessageBody]) => ({ Id, MessageBody })),
            }),
          )
        await expect(batch([])).rejects.toMatchObject({ name: 'EmptyBatchRequest' })
        const eleven = Array.from({ length: 11 }, (_, index): [string, string] => [`e${index}`, 'x'])
        await expect(batch(eleven)).rejects.toMatchObject({ name: 'TooManyEntriesInBatchRequest' })
        await expect(
          batch([
            ['same', 'x'],
            ['same', 'y'],
          ]),
        ).rejects.toMatchObject({ name: 'BatchEntryIdsNotDistinct' })
        await expect(batch([['not an id', 'x']])).rejects.toMatchObject({ name: 'InvalidBatchEntryId' })
        const half = 'x'.repeat(524_289)
        await expect(
          batch([
            ['a', half],
            ['b', half],
          ]),
        ).rejects.toMatchObject({ name: 'BatchRequestTooLong' })
        expect(await receive(url)).toEqual([])
      })
    })
  })
}
