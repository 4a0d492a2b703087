/** The part of the contract about transactions. */
import { randomUUID } from 'node:crypto'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { DeleteCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { expect, test } from 'vitest'
import { failureOf, untilNoConflict, won } from './outcomes.ts'
import type { Partition } from './partition.ts'

const SLOTS = 5
const TAKERS = 60
const ROUNDS = 40 // of increments

/** Registers the tests; each takes a partition of its own. */
export function transactionContract(partition: () => Partition): void {
  test('a transaction puts, updates, deletes and checks as one', async () => {
    const { table, pk, put, read, transact, putNew, setNumber } = partition()
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
    const { table, pk, put, read, transact, putNew, setNumber } = partition()
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

  test('an update that is impossible for the item is a reason of the transaction, and nothing is written', async () => {
    const { table, pk, put, read, transact, putNew } = partition()
    await put('text', { n: 'not a number' })
    const add = { TableName: table, Key: { pk, sk: 'text' }, UpdateExpression: 'SET n = n + :one' }
    const error = await failureOf(
      transact([putNew('new'), { Update: { ...add, ExpressionAttributeValues: { ':one': 1 } } }]),
      TransactionCanceledException,
    )
    expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ValidationError'])
    expect(await read('new')).toBe(undefined)
  })

  test('two actions on one item are no transaction, also with a check as the second', async () => {
    const { read, transact, putNew, checkAbsent } = partition()
    await expect(transact([putNew('A'), checkAbsent('A')])).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Transaction request cannot include multiple operations on one item',
    })
    expect(await read('A')).toBe(undefined)
  })

  test('a transaction has room for 100 actions, not for 101', async () => {
    const { read, transact, putNew } = partition()
    const actions = Array.from({ length: 101 }, (_, i) => putNew(`N#${i}`))
    await expect(transact(actions)).rejects.toMatchObject({ name: 'ValidationException' })
    await transact(actions.slice(0, 100))
    expect(await read('N#99')).toMatchObject({ sk: 'N#99' })
    expect(await read('N#100')).toBe(undefined)
  })

  test('an action of two kinds, or of none, is no transaction', async () => {
    const { transact, putNew, setNumber } = partition()
    const both = { ...putNew('A'), ...setNumber('B', 1) }
    await expect(transact([both])).rejects.toMatchObject({ name: 'ValidationException' })
    await expect(transact([{}])).rejects.toMatchObject({ name: 'ValidationException' })
  })

  test('a transaction on an unknown table is refused with its own error', async () => {
    const { table, pk, transact } = partition()
    const Put = { TableName: `${table}-none`, Item: { pk, sk: 'A' } }
    await expect(transact([{ Put }])).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  })

  test('the same transaction with the same token is done once; another transaction with the same token is refused', async () => {
    const { read, transact, putNew } = partition()
    const token = randomUUID()
    await transact([putNew('A')], token)
    await transact([putNew('A')], token)
    await expect(transact([putNew('B')], token)).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    })
    expect(await read('B')).toBe(undefined)
  })

  test('a refused transaction may be tried again with the same token', async () => {
    const { documents, table, pk, put, read, transact, putNew } = partition()
    const token = randomUUID()
    await put('A')
    await expect(transact([putNew('A')], token)).rejects.toMatchObject({ name: 'TransactionCanceledException' })
    await documents.send(new DeleteCommand({ TableName: table, Key: { pk, sk: 'A' } }))
    await transact([putNew('A')], token)
    expect(await read('A')).toMatchObject({ sk: 'A' })
  })

  test(`CE6: of ${TAKERS} takers that race for ${SLOTS} slots, exactly ${SLOTS} get one each`, async () => {
    const { documents, table, pk, transact, putNew } = partition()
    const take = async (taker: number): Promise<number> => {
      for (let turn = 0; turn < SLOTS; turn++) {
        const slot = (taker + turn) % SLOTS
        if (await won(() => transact([putNew(`SLOT#${slot}`, { taker }), putNew(`TAKER#${taker}`, { slot })]))) return 1
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

  test('increments by long transactions, short ones and single updates, side by side, all count', async () => {
    const { documents, table, pk, read, transact, checkAbsent } = partition()
    const Update = {
      TableName: table,
      Key: { pk, sk: 'COUNTER' },
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': 1 },
    }
    const absent = Array.from({ length: 60 }, (_, i) => checkAbsent(`ABSENT#${i}`))
    const rounds = Array.from({ length: ROUNDS }, () => [
      untilNoConflict(() => transact([{ Update }, ...absent])),
      untilNoConflict(() => transact([{ Update }])),
      untilNoConflict(() => documents.send(new UpdateCommand(Update))),
    ])
    await Promise.all(rounds.flat())
    expect(await read('COUNTER')).toMatchObject({ n: 3 * ROUNDS })
  })
}
