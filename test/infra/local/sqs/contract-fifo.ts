/** The promises of SQS about order, deduplication and dead letters. */
import { createHash } from 'node:crypto'
import { CreateQueueCommand, type Message } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit, shortSeconds } from './queue-kit.ts'

export function fifoPromises({
  prefix,
  subject,
  create,
  attributesOf,
  send,
  receive,
  receiveOne,
  remove,
  extend,
  withDeadLetters,
}: QueueKit): void {
  describe('FIFO', () => {
    it('messages of a group come in the order of their sends', async () => {
      const url = await create()
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
      const url = await create()
      await send(url, 'a1', { MessageGroupId: 'a' })
      await send(url, 'a2', { MessageGroupId: 'a' })
      await send(url, 'b1', { MessageGroupId: 'b' })
      const first = await receiveOne(url)
      expect(first.Body).toBe('a1')
      expect(bodies(await receive(url))).toEqual(['b1'])
      await remove(url, first)
      expect(bodies(await receive(url))).toEqual(['a2'])
    })

    it('a message comes again at the end of its visibility, before the messages behind it', async () => {
      const url = await create({ VisibilityTimeout: String(shortSeconds) })
      await send(url, '1', { MessageGroupId: 'g' })
      await send(url, '2', { MessageGroupId: 'g' })
      await receiveOne(url)
      await subject.passTime(shortSeconds * 1_000 + 100)
      expect(bodies(await receive(url))).toEqual(['1', '2'])
    })

    it('the lock holds until the last message in flight of the group is back', async () => {
      const url = await create()
      for (const body of ['1', '2', '3']) await send(url, body, { MessageGroupId: 'g' })
      const [first, second] = await receive(url, { MaxNumberOfMessages: 2 })
      await extend(url, first as Message, 0)
      expect(await receive(url)).toEqual([])
      await extend(url, second as Message, 0)
      expect(bodies(await receive(url))).toEqual(['1', '2', '3'])
    })

    it('the same deduplication id is accepted once; the answer is the answer of the first send', async () => {
      const url = await create({ ContentBasedDeduplication: 'false' })
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
      const byContent = await create()
      await send(byContent, 'same', { MessageGroupId: 'g' })
      await send(byContent, 'same', { MessageGroupId: 'g' })
      expect(bodies(await receive(byContent))).toEqual(['same'])
      const byId = await create({ ContentBasedDeduplication: 'false' })
      await expect(send(byId, 'no id', { MessageGroupId: 'g' })).rejects.toMatchObject({
        name: 'InvalidParameterValue',
      })
    })

    it('a message needs a group, and a delay is refused', async () => {
      const url = await create()
      await expect(send(url, 'no group', { MessageGroupId: undefined })).rejects.toMatchObject({
        name: 'MissingParameter',
      })
      await expect(send(url, 'delayed', { DelaySeconds: 1 })).rejects.toMatchObject({ name: 'SerializationException' })
    })

    it('an expired handle deletes nothing, with an error', async () => {
      const url = await create({ VisibilityTimeout: String(shortSeconds) })
      await send(url, 'slow', { MessageGroupId: 'g' })
      const message = await receiveOne(url)
      await subject.passTime(shortSeconds * 1_000 + 100)
      await expect(remove(url, message)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
      expect(bodies(await receive(url))).toEqual(['slow'])
    })

    it('a name without .fifo is refused', async () => {
      const command = new CreateQueueCommand({ QueueName: `${prefix}-plain`, Attributes: { FifoQueue: 'true' } })
      await expect(subject.client.send(command)).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    })
  })

  describe('dead letters', () => {
    it.each([2, 3])('a message moves when its receive count would exceed %i, not before', async (receivesMax) => {
      const { source, deadLetters } = await withDeadLetters(receivesMax)
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

    it('the next message of the group follows a dead one at once', async () => {
      const { source, deadLetters } = await withDeadLetters(1)
      await send(source, 'poison', { MessageGroupId: 'g' })
      await send(source, 'good', { MessageGroupId: 'g' })
      await receiveOne(source)
      expect(bodies(await receive(source))).toEqual(['good'])
      expect((await receiveOne(deadLetters)).Attributes?.MessageGroupId).toBe('g')
    })

    it('an unknown dead-letter queue is refused', async () => {
      const deadLetterTargetArn = String((await attributesOf(await create())).QueueArn).replace('.fifo', '-none.fifo')
      const made = create({ RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }) })
      await expect(made).rejects.toMatchObject({ name: 'InvalidParameterValue' })
    })
  })
}
