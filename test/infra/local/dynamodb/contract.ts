/** What Muster relies on in DynamoDB, said through the SDK. Every implementation that we run on passes it. */
import { randomUUID } from 'node:crypto'
import {
  ConditionalCheckFailedException,
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { BatchGetCommand, BatchWriteCommand, DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { failureOf } from './outcomes.ts'
import { newPartition } from './partition.ts'
import { createContractTable } from './table.ts'
import { transactionContract } from './transaction-contract.ts'

/** A DynamoDB, and the way to end it. */
export interface ContractSubject {
  readonly client: DynamoDBClient
  close(): Promise<void>
}

/** Runs the contract against what `start` starts. */
export function dynamoDbContract(name: string, start: () => Promise<ContractSubject>): void {
  describe(`${name} keeps the DynamoDB contract:`, () => {
    const table = `contract-${randomUUID()}`
    let subject: ContractSubject
    const partition = () => newPartition(subject.client, table)

    beforeAll(async () => {
      subject = await start()
      await createContractTable(subject.client, table)
    })
    afterAll(async () => {
      await subject.close()
    })

    transactionContract(partition)

    test('a refused put, update and delete each carry the item that stands, if asked', async () => {
      const { documents, table, pk, put, read } = partition()
      await put('A', { version: 3, owner: 'first' })
      const asked = { TableName: table, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const
      const refused = { ConditionExpression: 'attribute_not_exists(pk)' }
      const attempts = [
        documents.send(new PutCommand({ ...asked, ...refused, Item: { pk, sk: 'A' } })),
        documents.send(
          new UpdateCommand({ ...asked, ...refused, Key: { pk, sk: 'A' }, UpdateExpression: 'REMOVE version' }),
        ),
        documents.send(new DeleteCommand({ ...asked, ...refused, Key: { pk, sk: 'A' } })),
      ]
      for (const attempt of attempts) {
        const error = await failureOf(attempt, ConditionalCheckFailedException)
        expect(error.name).toBe('ConditionalCheckFailedException')
        expect(error.Item).toEqual({ pk: { S: pk }, sk: { S: 'A' }, version: { N: '3' }, owner: { S: 'first' } })
      }
      expect(await read('A')).toMatchObject({ version: 3, owner: 'first' })
    })

    test('a refused put carries no item when it was not asked for, or when there is none', async () => {
      const { documents, table, pk, put } = partition()
      await put('A')
      const unasked = { TableName: table, Item: { pk, sk: 'A' }, ConditionExpression: 'attribute_not_exists(pk)' }
      expect((await failureOf(documents.send(new PutCommand(unasked)), ConditionalCheckFailedException)).Item).toBe(
        undefined,
      )
      const absent = {
        TableName: table,
        Item: { pk, sk: 'B' },
        ConditionExpression: 'attribute_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      }
      expect((await failureOf(documents.send(new PutCommand(absent)), ConditionalCheckFailedException)).Item).toBe(
        undefined,
      )
    })

    test('the sparse index holds the keys of due items only, oldest first, and drops an item with its due time', async () => {
      const { documents, table, pk, put, read, transact, dueIn } = partition()
      const shard = `DUE#${randomUUID()}`
      const at = 1_790_000_000_000 // ms
      await put('late', { dueShard: shard, dueAt: at + 2, content: 'not projected' })
      await put('early', { dueShard: shard, dueAt: at + 1 })
      await put('future', { dueShard: shard, dueAt: at + 100 })
      await put('never', { dueShard: shard })
      const early = { pk, sk: 'early', dueShard: shard, dueAt: at + 1 }
      const late = { pk, sk: 'late', dueShard: shard, dueAt: at + 2 }
      await vi.waitFor(async () => expect(await dueIn(shard, at + 50)).toEqual([early, late]))

      await documents.send(
        new UpdateCommand({ TableName: table, Key: { pk, sk: 'early' }, UpdateExpression: 'REMOVE dueAt' }),
      )
      const Key = { pk, sk: 'late' }
      const Update = { TableName: table, Key, UpdateExpression: 'SET dueAt = :at' }
      await transact([
        { Update: { ...Update, ExpressionAttributeValues: { ':at': at + 9 } } },
        { Delete: { TableName: table, Key: { pk, sk: 'future' } } },
      ])
      await vi.waitFor(async () => expect(await dueIn(shard, at + 1000)).toEqual([{ ...late, dueAt: at + 9 }]))
      expect(await read('late')).toMatchObject({ content: 'not projected' })
    })

    test('a batch writes and reads several items', async () => {
      const { documents, table, pk, dueIn } = partition()
      const PutRequest = (sk: string) => ({ PutRequest: { Item: { pk, sk, dueShard: `DUE#${pk}`, dueAt: 1 } } })
      const written = new BatchWriteCommand({ RequestItems: { [table]: [PutRequest('A'), PutRequest('B')] } })
      expect((await documents.send(written)).UnprocessedItems).toEqual({})
      const keys = ['A', 'B'].map((sk) => ({ pk, sk }))
      const got = await documents.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
      )
      expect(got.Responses?.[table]?.map(({ sk }) => sk).sort()).toEqual(['A', 'B'])
      await vi.waitFor(async () => expect(await dueIn(`DUE#${pk}`, 1)).toHaveLength(2))
    })

    test('time to live is set once, described, and kept apart from backups', async () => {
      const { client, table } = partition()
      const describeTtl = () => client.send(new DescribeTimeToLiveCommand({ TableName: table }))
      expect((await describeTtl()).TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'DISABLED' })
      const TimeToLiveSpecification = { AttributeName: 'expires', Enabled: true }
      const set = new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification })
      expect((await client.send(set)).TimeToLiveSpecification).toEqual(TimeToLiveSpecification)
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
      await client.send(new UpdateContinuousBackupsCommand({ TableName: table, PointInTimeRecoverySpecification }))

      const status = expect.stringMatching(/^ENABL(ED|ING)$/)
      expect((await describeTtl()).TimeToLiveDescription).toEqual({
        TimeToLiveStatus: status,
        AttributeName: 'expires',
      })
      const backups = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }))
      expect(backups.ContinuousBackupsDescription).toMatchObject({
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
      })
      await expect(client.send(set)).rejects.toMatchObject({ name: 'ValidationException' })
    })

    test('settings of a table that does not exist are refused', async () => {
      const { client, table } = partition()
      const TableName = `${table}-none`
      for (const command of [
        new DescribeTimeToLiveCommand({ TableName }),
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
        }),
      ]) {
        await expect(client.send(command as DescribeTimeToLiveCommand)).rejects.toMatchObject({
          name: 'ResourceNotFoundException',
        })
      }
    })
  })
}
