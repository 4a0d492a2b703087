/** What SQS promises of batches. */
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { bodies, type QueueKit } from './queue-kit.ts'

export function batchPromises({ subject, standard, fifo, send, receive }: QueueKit): void {
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
}
