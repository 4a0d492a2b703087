/** What SQS promises of messages: what they carry, who sees them when, and how they are waited for. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit, shortSeconds } from './queue-kit.ts'

export function messagePromises({
  attributesOf,
  subject,
  standard,
  fifo,
  send,
  receive,
  receiveOne,
  remove,
  extend,
}: QueueKit): void {
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

    it('a waiting receive gets a message whose visibility ends while it waits', async () => {
      const url = await standard({ VisibilityTimeout: '1' })
      await send(url, 'abandoned')
      await receiveOne(url)
      const began = performance.now()
      const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
      await attributesOf(url) // answered after it: the poll has begun
      await subject.passTime(1_100)
      expect((await waiting).Body).toBe('abandoned')
      expect(performance.now() - began).toBeLessThan(15_000) // not only at the end of its wait
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
}
