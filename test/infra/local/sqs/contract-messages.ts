/** The promises of SQS about messages: their content, their visibility, and long polls. */
import { createHash } from 'node:crypto'
import { ChangeMessageVisibilityBatchCommand, DeleteMessageBatchCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit, shortSeconds } from './queue-kit.ts'

export function messagePromises({
  attributesOf,
  subject,
  create,
  send,
  receive,
  receiveOne,
  remove,
  extend,
}: QueueKit): void {
  describe('a message', () => {
    it('a message arrives with body, digest, send time and receive count', async () => {
      const url = await create({ VisibilityTimeout: '0' })
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

    it('a message shows only the requested system attributes', async () => {
      const url = await create({ VisibilityTimeout: '0' })
      await send(url, 'body')
      expect((await receiveOne(url, { MessageSystemAttributeNames: [] })).Attributes).toBeUndefined()
      const some = await receiveOne(url, { MessageSystemAttributeNames: ['SentTimestamp'] })
      expect(Object.keys(some.Attributes ?? {})).toEqual(['SentTimestamp'])
    })

    it('a message may have 1 MiB, and not a byte more', async () => {
      const url = await create()
      const body = 'é'.repeat(524_288)
      await send(url, body)
      expect((await receiveOne(url)).Body).toBe(body)
      await expect(send(url, `${body}x`)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    })

    it('a message is refused when empty, and with characters that XML 1.0 lacks', async () => {
      const url = await create()
      await expect(send(url, '')).rejects.toMatchObject({ name: 'MissingParameter' })
      await expect(send(url, 'nul \u0000')).rejects.toMatchObject({ name: 'InvalidMessageContents' })
    })
  })

  describe('visibility', () => {
    it('a received message is hidden until its timeout, then comes again', async () => {
      const url = await create({ VisibilityTimeout: String(shortSeconds) })
      await send(url, 'again')
      await receiveOne(url)
      expect(await receive(url)).toEqual([])
      await subject.passTime(shortSeconds * 1_000 + 100)
      expect((await receiveOne(url)).Attributes?.ApproximateReceiveCount).toBe('2')
    })

    it('an extended message stays hidden past its first timeout', async () => {
      const url = await create({ VisibilityTimeout: String(shortSeconds) })
      await send(url, 'long work')
      await extend(url, await receiveOne(url), 60)
      await subject.passTime(shortSeconds * 1_000 + 100)
      expect(await receive(url)).toEqual([])
    })

    it('a visibility of 0 gives the message back at once, and loses nothing', async () => {
      const url = await create()
      await send(url, 'given back')
      await extend(url, await receiveOne(url), 0)
      const again = await receiveOne(url)
      expect(again).toMatchObject({ Body: 'given back', Attributes: { ApproximateReceiveCount: '2' } })
    })

    it('a message out of flight has no visibility to change', async () => {
      const url = await create()
      await send(url, 'given back')
      const message = await receiveOne(url)
      await extend(url, message, 0)
      await expect(extend(url, message, 10)).rejects.toMatchObject({ name: 'MessageNotInflight' })
    })

    it('a deleted message never comes again, and a second deletion is no error', async () => {
      const url = await create({ VisibilityTimeout: String(shortSeconds) })
      await send(url, 'done')
      const message = await receiveOne(url)
      await remove(url, message)
      await remove(url, message)
      await subject.passTime(shortSeconds * 1_000 + 100)
      expect(await receive(url)).toEqual([])
    })

    it('the entries of a batch succeed or fail singly, by their ids', async () => {
      const url = await create()
      for (const body of ['a', 'b']) await send(url, body)
      const [first, second] = await receive(url)
      const bad = { Id: 'bad', ReceiptHandle: 'made up' }
      const changes = [{ Id: 'back', ReceiptHandle: first?.ReceiptHandle, VisibilityTimeout: 0 }]
      const changed = await subject.client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: url,
          Entries: [...changes, { ...bad, VisibilityTimeout: 0 }],
        }),
      )
      expect(changed.Successful).toEqual([{ Id: 'back' }])
      expect(changed.Failed).toMatchObject([{ Id: 'bad', SenderFault: true, Code: 'ReceiptHandleIsInvalid' }])
      const deletions = [bad, { Id: 'done', ReceiptHandle: second?.ReceiptHandle }]
      const deleted = await subject.client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries: deletions }))
      expect(deleted.Successful).toEqual([{ Id: 'done' }])
      expect(deleted.Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid' }])
      expect(bodies(await receive(url))).toEqual([first?.Body])
    })

    it('an invented handle is ReceiptHandleIsInvalid', async () => {
      const url = await create()
      await expect(remove(url, { ReceiptHandle: 'made up' })).rejects.toMatchObject({
        name: 'ReceiptHandleIsInvalid',
      })
    })
  })

  describe('long polls', () => {
    it('a waiting receive gets a newly sent message', async () => {
      const url = await create()
      const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
      await send(url, 'awaited')
      expect((await waiting).Body).toBe('awaited')
    })

    it('a waiting receive gets a message that another consumer gives back', async () => {
      const url = await create()
      await send(url, 'shared')
      const message = await receiveOne(url)
      const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
      await extend(url, message, 0)
      expect((await waiting).Body).toBe('shared')
    })

    it('a waiting receive gets the next message of the group when the earlier one is deleted', async () => {
      const url = await create()
      await send(url, '1', { MessageGroupId: 'g' })
      await send(url, '2', { MessageGroupId: 'g' })
      const first = await receiveOne(url)
      const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
      await remove(url, first)
      expect((await waiting).Body).toBe('2')
    })

    it('a waiting receive gets a message at the end of its visibility', async () => {
      const url = await create({ VisibilityTimeout: '1' })
      await send(url, 'abandoned')
      await receiveOne(url)
      const began = performance.now()
      const waiting = receiveOne(url, { WaitTimeSeconds: 20 })
      await attributesOf(url) // answered after the start of the poll
      await subject.passTime(1_100)
      expect((await waiting).Body).toBe('abandoned')
      expect(performance.now() - began).toBeLessThan(15_000) // not only at the end of the wait
    })

    it('a receive on an empty queue ends after the wait, with nothing', async () => {
      const url = await create()
      expect(await receive(url, { WaitTimeSeconds: 1 })).toEqual([])
    })

    it('of two waiting receives, one gets the message', async () => {
      const url = await create()
      const both = [1, 2].map(() => receive(url, { WaitTimeSeconds: 1 }))
      await send(url, 'for one')
      expect((await Promise.all(both)).flat()).toHaveLength(1)
    })
  })
}
