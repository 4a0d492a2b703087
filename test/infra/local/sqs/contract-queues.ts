/** What SQS promises of queues and their attributes. */
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit } from './queue-kit.ts'

export function queuePromises({
  prefix,
  subject,
  standard,
  fifo,
  attributesOf,
  send,
  receive,
  receiveOne,
  extend,
}: QueueKit): void {
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
}
