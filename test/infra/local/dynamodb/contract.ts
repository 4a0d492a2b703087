/** Muster's demands on DynamoDB, through the SDK. Every implementation under Muster passes this contract. */
import { randomUUID } from 'node:crypto'
import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { failureOf } from './outcomes.ts'
import { newPartition } from './partition.ts'
import { createContractTable } from './table.ts'
import { transactionContract } from './transaction-contract.ts'

/** A DynamoDB under test, and the way to end it. */
export interface ContractSubject {
  readonly client: DynamoDBClient
  close(): Promise<void>
}

/** Runs the contract against the service of `start`. */
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

    test('a refused put, update and delete each carry the standing item, if asked', async () => {
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

    test('a refused put carries no item unasked, and none where none stands', async () => {
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
  })
}
