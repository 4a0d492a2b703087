/** The simulated table keeps DynamoDB's contract and its own promises to the simulation. */
import { expect, test } from 'vitest'
import { clientFor } from '../../infra/local/dynamodb/client.ts'
import { dynamoDbContract } from '../../infra/local/dynamodb/contract.ts'
import { serveSimulated } from './http.ts'
import { type Commit, simulatedTable, type TablesOptions } from './table.ts'

dynamoDbContract('the simulated table', async () => {
  const service = await serveSimulated(simulatedTable({ now: Date.now }))
  const client = clientFor(service.url)
  return {
    client,
    async close() {
      client.destroy()
      await service.close()
    },
  }
})

const TableName = 'ledger'
const shard = { S: 'DUE#1' }

/** A table of the ledger's shape, with a short function for requests. */
function ledgerTable(options: Partial<TablesOptions> = {}) {
  const table = simulatedTable({ now: () => 0, ...options })
  table.create({
    TableName,
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
      { AttributeName: 'duePk', AttributeType: 'S' },
      { AttributeName: 'dueAt', AttributeType: 'N' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'due',
        KeySchema: [
          { AttributeName: 'duePk', KeyType: 'HASH' },
          { AttributeName: 'dueAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  })
  const ask = (operation: string, input: object) => {
    const headers = { 'x-amz-target': `DynamoDB_20120810.${operation}` }
    const body = JSON.stringify(operation === 'TransactWriteItems' ? input : { TableName, ...input })
    const answer = table.answer({ method: 'POST', path: '/', headers, body })
    return JSON.parse(answer.body) as Record<string, unknown> & { __type?: string; message?: string }
  }
  const put = (sk: string, more: object = {}) => ask('PutItem', { Item: { ...keyOf(sk), ...more } })
  const dueNow = () =>
    ask('Query', {
      IndexName: 'due',
      KeyConditionExpression: 'duePk = :shard',
      ExpressionAttributeValues: { ':shard': shard },
    }).Items as { sk: { S: string }; dueAt: { N: string } }[]
  return { table, ask, put, dueNow }
}

const keyOf = (sk: string) => ({ pk: { S: 'P' }, sk: { S: sk } })

test('a lagging index shows each change later and each item’s changes in order, while the table shows changes at once', () => {
  let now = 1_000
  const lags = [50, 10, 0]
  const { put, ask, dueNow, table } = ledgerTable({ now: () => now, indexLag: () => lags.shift() ?? 0 })
  put('A', { duePk: shard, dueAt: { N: '1' } })
  put('A', { duePk: shard, dueAt: { N: '2' } })
  expect(dueNow()).toEqual([])
  expect(table.item({ pk: 'P', sk: 'A' })).toMatchObject({ dueAt: 2 })
  now += 49
  expect(dueNow()).toEqual([])
  now += 1
  expect(dueNow()).toMatchObject([{ dueAt: { N: '2' } }])
  ask('DeleteItem', { Key: keyOf('A') })
  expect(dueNow()).toEqual([])
})

test('a forced conflict refuses a write, or cancels a transaction at the given positions, and changes nothing', () => {
  let held: readonly number[] = []
  const { put, ask, table } = ledgerTable({ conflicts: () => held })
  held = [0]
  expect(put('A').__type).toContain('#TransactionConflictException')
  held = [1]
  const cancelled = ask('TransactWriteItems', {
    TransactItems: ['A', 'B'].map((sk) => ({ Put: { TableName, Item: keyOf(sk) } })),
  })
  expect(cancelled.CancellationReasons).toMatchObject([{ Code: 'None' }, { Code: 'TransactionConflict' }])
  expect(table.items()).toEqual([])
  expect(table.counts.conflicts).toBe(2)
})

test('a listener hears of each commit after the whole commit, and an error of the listener fails the request', () => {
  const { put, ask, table } = ledgerTable()
  const commits: (Commit & { readonly there: number })[] = []
  table.onCommit((commit) => commits.push({ ...commit, there: table.items().length }))
  put('A', { n: { N: '1' } })
  const Update = {
    TableName,
    Key: keyOf('A'),
    UpdateExpression: 'SET n = n + :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  }
  ask('TransactWriteItems', { TransactItems: [{ Update }, { Put: { TableName, Item: keyOf('B') } }] })
  expect(commits).toMatchObject([
    { operation: 'PutItem', changes: [{ table: TableName, key: { pk: 'P', sk: 'A' }, before: undefined }], there: 1 },
    {
      operation: 'TransactWriteItems',
      changes: [{ before: { n: 1 }, after: { n: 2 } }, { after: { sk: 'B' } }],
      there: 2,
    },
  ])
  table.onCommit(() => {
    throw new Error('invariant broken')
  })
  expect(() => put('C')).toThrow('invariant broken')
})

test('an inspected item never changes afterwards: an update makes a new item and copies along its path only', () => {
  const { put, ask, table } = ledgerTable()
  put('A', { slots: { M: { one: { M: { epoch: { N: '1' } } }, two: { M: { epoch: { N: '2' } } } } } })
  const before = table.item({ pk: 'P', sk: 'A' })
  ask('UpdateItem', {
    Key: keyOf('A'),
    UpdateExpression: 'SET #slots.#id.epoch = :n REMOVE #slots.two',
    ExpressionAttributeNames: { '#slots': 'slots', '#id': 'one' },
    ExpressionAttributeValues: { ':n': { N: '7' } },
  })
  expect(before).toMatchObject({ slots: { one: { epoch: 1 }, two: { epoch: 2 } } })
  expect(table.item({ pk: 'P', sk: 'A' })?.slots).toEqual({ one: { epoch: 7 } })
  expect(Object.isFrozen(before?.slots)).toBe(true)
})

test('writes are counted by item and kind, including checks and refusals, and index rows are counted apart', () => {
  const { put, ask, table } = ledgerTable()
  put('A', { duePk: shard, dueAt: { N: '1' } })
  put('A', { duePk: shard, dueAt: { N: '1' }, more: { S: 'not in the index' } })
  const ConditionExpression = 'attribute_not_exists(pk)'
  ask('PutItem', { Item: keyOf('A'), ConditionExpression })
  ask('TransactWriteItems', {
    TransactItems: [
      { ConditionCheck: { TableName, Key: keyOf('C'), ConditionExpression } },
      { Delete: { TableName, Key: keyOf('A') } },
    ],
  })
  expect(table.counts).toEqual({
    requests: { PutItem: 3, TransactWriteItems: 1 },
    writes: { Put: 3, Update: 0, Delete: 1, ConditionCheck: 1 },
    refused: 1,
    conflicts: 0,
    indexWrites: 2,
  })
})

test.each([
  ['an item of more than 400 KB', { text: { S: 'x'.repeat(400 * 1024) } }, /maximum allowed size/],
  ['a number of 39 digits', { n: { N: '1'.repeat(39) } }, /38 significant digits/],
  ['an empty key of an index', { duePk: { S: '' } }, /empty value/],
  ['a value of two types', { n: { N: '1', S: '1' } }, /more than one datatypes/],
])('%s is refused', (_, more, sentence) => {
  const answer = ledgerTable().put('A', more)
  expect(answer.__type).toContain('#ValidationException')
  expect(answer.message).toMatch(sentence)
})

test.each([
  ['PutItem', { Item: keyOf('A'), Expected: {} }, /Expected is not simulated/],
  ['PutItem', { Item: keyOf('A'), ReturnConsumedCapacity: 'TOTAL' }, /ReturnConsumedCapacity is not simulated/],
  ['PutItem', { Item: keyOf(''), ConditionExpression: 'attribute_exists(pk)' }, /empty value/],
  ['UpdateItem', { Key: keyOf('A'), UpdateExpression: 'REMOVE owner' }, /reserved keyword; reserved keyword: owner/],
  ['UpdateItem', { Key: keyOf('A'), UpdateExpression: 'REMOVE #a', ExpressionAttributeNames: { '#b': 'b' } }, /#a/],
  ['ExecuteStatement', {}, /Unknown operation/],
] as const)(
  'a feature that the simulation or DynamoDB lacks is refused by name: %s %j',
  (operation, input, sentence) => {
    expect(ledgerTable().ask(operation, input).message).toMatch(sentence)
  },
)

test('numbers are exact, even for sums beyond the precision of a double', () => {
  const { put, ask, table } = ledgerTable()
  put('A', { n: { N: '9007199254740993' }, part: { N: '0.1' } })
  const { Attributes } = ask('UpdateItem', {
    Key: keyOf('A'),
    UpdateExpression: 'SET n = n + :one, part = part + :part',
    ExpressionAttributeValues: { ':one': { N: '1' }, ':part': { N: '0.2' } },
    ReturnValues: 'UPDATED_NEW',
  })
  expect(Attributes).toEqual({ n: { N: '9007199254740994' }, part: { N: '0.3' } })
  expect(table.items('P', 'A')).toHaveLength(1)
})

test.each([
  ['n < :two', false],
  ['n <= :two', true],
  ['n > :two', false],
  ['n >= :two', true],
  ['n > :one AND n < :three', true],
  ['n BETWEEN :two AND :three', true],
  ['n BETWEEN :one AND :two', true],
  ['n IN (:one, :two)', true],
  ['n <> :two', false],
  ['absent <> :two', true],
  ['absent <= :two', false],
  ['NOT absent = :two', true],
  ['begins_with(#word, :wo) AND contains(#word, :or)', true],
  ['contains(listed, :two) AND size(listed) = :one', true],
  ['slots.one.epoch = :two AND attribute_not_exists(slots.two)', true],
  ['n = :two OR n = :one AND n = :three', true],
  ['(n = :two OR n = :one) AND n = :three', false],
  ['NOT n = :one AND n = :two', true],
])('the condition %s is %s', (ConditionExpression, holds) => {
  const { put, ask } = ledgerTable()
  const slots = { M: { one: { M: { epoch: { N: '2' } } } } }
  put('A', { n: { N: '2' }, word: { S: 'word' }, listed: { L: [{ N: '2' }] }, slots })
  const values = {
    ':one': { N: '1' },
    ':two': { N: '2.0' },
    ':three': { N: '3' },
    ':wo': { S: 'wo' },
    ':or': { S: 'or' },
  }
  const used = Object.entries(values).filter(([alias]) => ConditionExpression.includes(alias))
  const answer = ask('UpdateItem', {
    Key: keyOf('A'),
    ConditionExpression,
    ExpressionAttributeValues: Object.fromEntries(used),
    ...(ConditionExpression.includes('#word') ? { ExpressionAttributeNames: { '#word': 'word' } } : {}),
  })
  expect(answer.__type?.split('#')[1]).toBe(holds ? undefined : 'ConditionalCheckFailedException')
})
