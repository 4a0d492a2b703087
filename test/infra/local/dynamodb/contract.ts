/** What Muster relies on in DynamoDB, said through the SDK. Every implementation that we run on passes it. */
import { randomUUID } from 'node:crypto'
import {
  ConditionalCheckFailedException,
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  TransactionCanceledException,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { failureOf, untilNoConflict, won } from './outcomes.ts'
import { createContractTable } from './table.ts'

/** A DynamoDB, and the way to end it. */
export interface ContractSubject {
  readonly client: DynamoDBClient
  close(): Promise<void>
}

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

const SLOTS = 5
const TAKERS = 60

/** Runs the contract against what `start` starts. */
export function dynamoDbContract(name: string, start: () => Promise<ContractSubject>): void {
  describe(`${name} keeps the DynamoDB contract:`, () => {
    const table = `contract-${randomUUID()}`
    let subject: ContractSubject
    let documents: DynamoDBDocumentClient
    let pk: string // each test has its own partition

    beforeAll(async () => {
      subject = await start()
      documents = DynamoDBDocumentClient.from(subject.client)
      await createContractTable(subject.client, table)
    })
    afterAll(async () => {
      await subject.close()
    })
    beforeEach(() => {
      pk = `TEST#${randomUUID()}`
    })

    const put = (sk: string, attributes: Record<string, unknown> = {}) =>
      documents.send(new PutCommand({ TableName: table, Item: { pk, sk, ...attributes } }))
    const read = async (sk: string) =>
      (await documents.send(new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true }))).Item
    const transact = (items: TransactItem[], ClientRequestToken?: string) =>
      documents.send(
        new TransactWriteCommand({ TransactItems: items, ...(ClientRequestToken && { ClientRequestToken }) }),
      )
    const putNew = (sk: string, attributes: Record<string, unknown> = {}): TransactItem => ({
      Put: {
        TableName: table,
        Item: { pk, sk, ...attributes },
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    })
    const setNumber = (sk: string, n: number): TransactItem => ({
      Update: {
        TableName: table,
        Key: { pk, sk },
        UpdateExpression: 'SET #n = :n',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':n': n },
      },
    })
    const dueIn = async (shard: string, until: number) => {
      const answer = await documents.send(
        new QueryCommand({
          TableName: table,
          IndexName: 'due',
          KeyConditionExpression: 'dueShard = :shard AND dueAt <= :until',
          ExpressionAttributeValues: { ':shard': shard, ':until': until },
        }),
      )
      return answer.Items
    }

    test('a refused put, update and delete each carry the item that stands, if asked', async () => {
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

    test('a transaction puts, updates, deletes and checks as one', async () => {
      await put('updated', { n: 1 })
      await put('deleted')
      await put('checked', { open: true })
      await transact([
        putNew('put', { n: 5 }),
        setNumber('updated', 2),
        { Delete: { TableName: table, Key: { pk, sk: 'deleted' } } },
        {
          ConditionCheck: {
            TableName: table,
            Key: { pk, sk: 'checked' },
            ConditionExpression: '#open = :true',
            ExpressionAttributeNames: { '#open': 'open' },
            ExpressionAttributeValues: { ':true': true },
          },
        },
      ])
      expect(await read('put')).toMatchObject({ n: 5 })
      expect(await read('updated')).toMatchObject({ n: 2 })
      expect(await read('deleted')).toBe(undefined)
      expect(await read('checked')).toMatchObject({ open: true })
    })

    test('a refused transaction changes nothing, and gives its reasons by position, with the item if asked', async () => {
      await put('taken', { by: 'someone' })
      await put('old', { n: 1 })
      const error = await failureOf(
        transact([
          setNumber('old', 2),
          putNew('taken'),
          { Delete: { TableName: table, Key: { pk, sk: 'old2' }, ConditionExpression: 'attribute_exists(pk)' } },
          {
            ConditionCheck: {
              TableName: table,
              Key: { pk, sk: 'no' },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ]),
        TransactionCanceledException,
      )
      expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual([
        'None',
        'ConditionalCheckFailed',
        'ConditionalCheckFailed',
        'None',
      ])
      const items = error.CancellationReasons?.map(({ Item }) => Item)
      expect(items).toEqual([
        undefined,
        { pk: { S: pk }, sk: { S: 'taken' }, by: { S: 'someone' } },
        undefined,
        undefined,
      ])
      expect(error.message).toContain('[None, ConditionalCheckFailed, ConditionalCheckFailed, None]')
      expect(await read('old')).toMatchObject({ n: 1 })
      expect(await read('taken')).toMatchObject({ by: 'someone' })
    })

    test('an update that makes no sense for the item is a reason of the transaction, and nothing is written', async () => {
      await put('text', { n: 'not a number' })
      const add = { TableName: table, Key: { pk, sk: 'text' }, UpdateExpression: 'SET n = n + :one' }
      const error = await failureOf(
        transact([putNew('new'), { Update: { ...add, ExpressionAttributeValues: { ':one': 1 } } }]),
        TransactionCanceledException,
      )
      expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ValidationError'])
      expect(await read('new')).toBe(undefined)
    })

    test('two actions on one item are no transaction, also when one of them only checks', async () => {
      const check = { TableName: table, Key: { pk, sk: 'A' }, ConditionExpression: 'attribute_not_exists(pk)' }
      await expect(transact([putNew('A'), { ConditionCheck: check }])).rejects.toMatchObject({
        name: 'ValidationException',
        message: 'Transaction request cannot include multiple operations on one item',
      })
      expect(await read('A')).toBe(undefined)
    })

    test('a transaction has room for 100 actions, not for 101', async () => {
      const actions = Array.from({ length: 101 }, (_, i) => putNew(`N#${i}`))
      await expect(transact(actions)).rejects.toMatchObject({ name: 'ValidationException' })
      await transact(actions.slice(0, 100))
      expect(await read('N#99')).toMatchObject({ sk: 'N#99' })
      expect(await read('N#100')).toBe(undefined)
    })

    test('an action of two kinds, or of none, is no transaction', async () => {
      const both = { ...putNew('A'), ...setNumber('B', 1) }
      await expect(transact([both])).rejects.toMatchObject({ name: 'ValidationException' })
      await expect(transact([{}])).rejects.toMatchObject({ name: 'ValidationException' })
    })

    test('a transaction on a table that does not exist is refused with its own error', async () => {
      const Put = { TableName: `${table}-none`, Item: { pk, sk: 'A' } }
      await expect(transact([{ Put }])).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
    })

    test('the same transaction with the same token is done once; another one with that token is refused', async () => {
      const token = randomUUID()
      await transact([putNew('A')], token)
      await transact([putNew('A')], token)
      await expect(transact([putNew('B')], token)).rejects.toMatchObject({
        name: 'IdempotentParameterMismatchException',
      })
      expect(await read('B')).toBe(undefined)
    })

    test('a refused transaction may be tried again with the same token', async () => {
      const token = randomUUID()
      await put('A')
      await expect(transact([putNew('A')], token)).rejects.toMatchObject({ name: 'TransactionCanceledException' })
      await documents.send(new DeleteCommand({ TableName: table, Key: { pk, sk: 'A' } }))
      await transact([putNew('A')], token)
      expect(await read('A')).toMatchObject({ sk: 'A' })
    })

    test(`CE6: of ${TAKERS} takers that race for ${SLOTS} slots, exactly ${SLOTS} get one each`, async () => {
      const take = async (taker: number): Promise<number> => {
        for (let turn = 0; turn < SLOTS; turn++) {
          const slot = (taker + turn) % SLOTS
          if (await won(() => transact([putNew(`SLOT#${slot}`, { taker }), putNew(`TAKER#${taker}`, { slot })])))
            return 1
        }
        return 0
      }
      const wins = await Promise.all(Array.from({ length: TAKERS }, (_, taker) => take(taker)))
      expect(wins.reduce((sum, each) => sum + each, 0)).toBe(SLOTS)
      const rows = await documents.send(
        new QueryCommand({
          TableName: table,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': pk },
        }),
      )
      const slots = rows.Items?.filter(({ sk }) => sk.startsWith('SLOT#')) ?? []
      const takers = rows.Items?.filter(({ sk }) => sk.startsWith('TAKER#')) ?? []
      expect(slots.map(({ sk, taker }) => `${sk} ${taker}`).sort()).toEqual(
        takers.map(({ sk, slot }) => `SLOT#${slot} ${sk.slice('TAKER#'.length)}`).sort(),
      )
    })

    test('TransactGetItems sees all of a transaction or nothing, while transactions and single writes go on', async () => {
      await transact([setNumber('left', 0), setNumber('right', 0)])
      let writing = true
      const writer = (async () => {
        for (let n = 1; n <= 60; n++)
          await untilNoConflict(() => transact([setNumber('left', n), setNumber('right', n)]))
        writing = false
      })()
      const Get = (sk: string) => ({ Get: { TableName: table, Key: { pk, sk } } })
      while (writing) {
        const both = new TransactGetCommand({ TransactItems: [Get('left'), Get('right'), Get('absent')] })
        const answer = await untilNoConflict(() => documents.send(both))
        expect(answer.Responses?.map(({ Item }) => Item?.n)).toEqual([
          answer.Responses?.[1]?.Item?.n,
          expect.any(Number),
          undefined,
        ])
        const left = await read('left')
        const right = await read('right')
        expect(right?.n).toBeGreaterThanOrEqual(left?.n) // what one consistent read saw, the next one sees too
      }
      await writer
      expect(await read('right')).toMatchObject({ n: 60 })
    })

    test('the sparse index holds the keys of due items only, oldest first, and drops an item with its due time', async () => {
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
      const { client } = subject
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
      const TableName = `${table}-none`
      for (const command of [
        new DescribeTimeToLiveCommand({ TableName }),
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
        }),
      ]) {
        await expect(subject.client.send(command as DescribeTimeToLiveCommand)).rejects.toMatchObject({
          name: 'ResourceNotFoundException',
        })
      }
    })
  })
}
