/** The promises of SQS about queues and their attributes. */
import { CreateQueueCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit } from './queue-kit.ts'

export function queuePromises({ prefix, subject, create, attributesOf, send, receive, receiveOne }: QueueKit): void {
  describe('queues', () => {
    it('creating a queue again with the same attributes returns the same URL', async () => {
      const first = await create({ VisibilityTimeout: '45' })
      const QueueName = first.slice(first.lastIndexOf('/') + 1)
      const again = await subject.client.send(
        new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: 'true', VisibilityTimeout: '45' } }),
      )
      expect(again.QueueUrl).toBe(first)
    })

    it('creating a queue again with another attribute is refused and changes nothing', async () => {
      const first = await create({ VisibilityTimeout: '45' })
      const QueueName = first.slice(first.lastIndexOf('/') + 1)
      const again = new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: 'true', VisibilityTimeout: '46' } })
      await expect(subject.client.send(again)).rejects.toMatchObject({ name: 'QueueNameExists' })
      expect((await attributesOf(first)).VisibilityTimeout).toBe('45')
    })

    it('a URL is found by name, and the SDK reaches the queue by it', async () => {
      const created = await create()
      const QueueName = created.slice(created.lastIndexOf('/') + 1)
      const found = await subject.client.send(new GetQueueUrlCommand({ QueueName }))
      expect(found.QueueUrl).toBe(created)
      await send(created, 'reached', { MessageGroupId: 'g' })
      expect(bodies(await receive(created))).toEqual(['reached'])
    })

    it('an unknown queue is QueueDoesNotExist, with the code of the query protocol beside it', async () => {
      const unknown = new GetQueueUrlCommand({ QueueName: `${prefix}-none.fifo` })
      await expect(subject.client.send(unknown)).rejects.toMatchObject({
        name: 'QueueDoesNotExist',
        Error: { Code: 'AWS.SimpleQueueService.NonExistentQueue' },
      })
    })

    it('unknown attributes and values out of range are refused by name', async () => {
      const unknown = new CreateQueueCommand({
        QueueName: `${prefix}-bad.fifo`,
        Attributes: { FifoQueue: 'true', Colour: 'red' } as Record<string, string>,
      })
      await expect(subject.client.send(unknown)).rejects.toMatchObject({ name: 'InvalidAttributeName' })
      const outside = new CreateQueueCommand({
        QueueName: `${prefix}-bad.fifo`,
        Attributes: { FifoQueue: 'true', VisibilityTimeout: '43201' },
      })
      await expect(subject.client.send(outside)).rejects.toMatchObject({ name: 'InvalidAttributeValue' })
    })

    it('messages are counted as visible and in flight', async () => {
      const url = await create()
      await send(url, 'one')
      await send(url, 'two')
      await receiveOne(url)
      expect(await attributesOf(url)).toMatchObject({
        ApproximateNumberOfMessages: '1',
        ApproximateNumberOfMessagesNotVisible: '1',
      })
    })
  })
}
