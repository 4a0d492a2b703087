/** The state of the local DynamoDB over restarts, its answers and its refusals, beyond the contract. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, QueryCommand, ScanCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  getTable,
  indexRows,
  openStore,
  perform,
  startingWith,
  tableRows,
} from '../../../../infra/local/dynamodb/dynalite.ts'
import { startDynamoDb } from '../../../../infra/local/dynamodb/dynamodb.ts'
import type { LocalService } from '../../../../infra/local/service.ts'
import { clientFor } from './client.ts'
import { createContractTable } from './table.ts'

type Options = Parameters<typeof startDynamoDb>[0]

const TableName = 'kept'
const MINUTE_MS = 60_000

let directory: string
let service: LocalService | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'muster-dynamodb-state-'))
})
afterEach(async () => {
  await service?.close()
  await rm(directory, { recursive: true })
})

async function start(
  options: Options = { directory },
): Promise<{ client: DynamoDBClient; documents: DynamoDBDocumentClient }> {
  service = await startDynamoDb(options)
  const client = clientFor(service.url)
  return { client, documents: DynamoDBDocumentClient.from(client) }
}

/** A table with two due items and a third without a due time, on disk; then nothing runs. */
async function leaveThreeItems(): Promise<void> {
  const { client, documents } = await start()
  await createContractTable(client, TableName)
  await documents.send(
    put(['A', 'B', 'C'].map((sk, i) => ({ pk: 'P', sk, ...(i < 2 && { dueShard: 'D', dueAt: i }) }))),
  )
  await service?.close()
}

function put(items: Record<string, unknown>[], ClientRequestToken?: string): TransactWriteCommand {
  const TransactItems = items.map((Item) => ({ Put: { TableName, Item } }))
  return new TransactWriteCommand({ TransactItems, ...(ClientRequestToken && { ClientRequestToken }) })
}

async function due(documents: DynamoDBDocumentClient): Promise<unknown[] | undefined> {
  const query = new QueryCommand({
    TableName,
    IndexName: 'due',
    KeyConditionExpression: 'dueShard = :d',
    ExpressionAttributeValues: { ':d': 'D' },
  })
  return (await documents.send(query)).Items?.map(({ sk }) => sk)
}

test('items and indexes outlast a clean end', async () => {
  const { client } = await start()
  await createContractTable(client, TableName)
  await service?.close()
  const second = await start()
  await second.documents.send(put([{ pk: 'P', sk: 'A', dueShard: 'D', dueAt: 1 }]))
  await service?.close()
  const third = await start()
  expect(await due(third.documents)).toEqual(['A'])
})

test('a close in the middle of writes keeps every answered write, and may be repeated', async () => {
  const { client, documents } = await start()
  await createContractTable(client, TableName)
  const answered = new Set<string>()
  const writes = Array.from({ length: 100 }, async (_, i) => {
    await documents.send(put([{ pk: 'P', sk: `${i}`, n: i }]))
    answered.add(`${i}`)
  })
  await Promise.any(writes)
  await Promise.all([service?.close(), service?.close()])
  await Promise.allSettled(writes)
  const next = await start()
  const kept = (await next.documents.send(new ScanCommand({ TableName }))).Items?.map(({ sk }) => sk)
  expect(kept).toEqual(expect.arrayContaining([...answered]))
})

test('the start repairs an item without index row, and a row without item', async () => {
  await leaveThreeItems()
  const store = await openStore(join(directory, 'items'))
  for await (const [key, row] of store.db.iterator(startingWith(indexRows(TableName)))) {
    const { sk, ...others } = row as { sk: { S: string } }
    if (sk.S === 'A')
      await store.db.batch([
        { type: 'del', key },
        { type: 'put', key: `${key}-stale`, value: row },
      ])
    if (sk.S === 'B') await store.db.put(key, { ...others, sk: { S: 'someone else' } })
  }
  await store.db.close()
  const { documents } = await start()
  expect(await due(documents)).toEqual(['A', 'B'])
})

test('a table whose making the process did not finish is usable afterwards', async () => {
  await leaveThreeItems()
  await setTableStatus('CREATING')
  const { client, documents } = await start()
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  expect([Table?.TableStatus, Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus]).toEqual(['ACTIVE', 'ACTIVE'])
  expect(await due(documents)).toEqual(['A', 'B'])
})

async function setTableStatus(status: string): Promise<void> {
  const store = await openStore(join(directory, 'items'))
  const key = tableRows() + TableName
  const table = (await store.db.get(key)) as { GlobalSecondaryIndexes: object[] }
  const GlobalSecondaryIndexes = table.GlobalSecondaryIndexes.map((index) => ({ ...index, IndexStatus: status }))
  await store.db.put(key, { ...table, TableStatus: status, GlobalSecondaryIndexes })
  await store.db.close()
}

test('a token stands for its transaction for ten minutes and not longer, also in the next process', async () => {
  let now = 1_790_000_000_000 // ms
  const { client, documents } = await start({ directory, now: () => now })
  await createContractTable(client, TableName)
  await documents.send(put([{ pk: 'P', sk: 'A' }], 'token'))
  await service?.close()
  const next = await start({ directory, now: () => now })
  now += 10 * MINUTE_MS - 1
  await expect(next.documents.send(put([{ pk: 'P', sk: 'B' }], 'token'))).rejects.toMatchObject({
    name: 'IdempotentParameterMismatchException',
  })
  now += 1
  await next.documents.send(put([{ pk: 'P', sk: 'B' }], 'token'))
})

test('a consistent query, beside transactions, sees all of each or nothing', async () => {
  const { client, documents } = await start({})
  await createContractTable(client, TableName)
  let writing = true
  const writer = (async () => {
    for (let n = 1; n <= 100; n++) await documents.send(put(['A', 'B', 'C'].map((sk) => ({ pk: 'P', sk, n }))))
    writing = false
  })()
  const seen = new Set<string>()
  while (writing) {
    const query = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'P' } }
    const { Items } = await documents.send(new QueryCommand({ TableName, ConsistentRead: true, ...query }))
    seen.add(new Set(Items?.map(({ n }) => n)).size <= 1 ? 'whole' : 'torn')
  }
  await writer
  expect([...seen]).toEqual(['whole'])
})

test('an unusable directory is refused with the reason and the remedy', async () => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  await expect(startDynamoDb({ directory: file })).rejects.toMatchObject({
    code: 'state_unusable',
    message: expect.stringMatching(/file can't be opened: .+\. Make the directory writable, or choose another one\.$/),
  })
})

test('a request foreign to DynamoDB gets an error of DynamoDB', async () => {
  await start({})
  const ask = async (target: string, body: string) => {
    const headers = { 'x-amz-target': target }
    const answer = await fetch(service?.url ?? '', {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(5_000),
    })
    return [answer.status, ((await answer.json()) as { __type: string }).__type.split('#')[1]]
  }
  expect(await ask('DynamoDB_20120810.ExecuteStatement', '{}')).toEqual([400, 'UnknownOperationException'])
  expect(await ask('DynamoDB_20120810.GetItem', '{')).toEqual([400, 'SerializationException'])
  expect(await ask('DynamoDB_20120810.GetItem', '[]')).toEqual([400, 'SerializationException'])
  expect(await ask('DynamoDB_20120810.GetItem', '{}')).toEqual([400, 'ValidationException'])
})

test('a query closes its view of the database: queries cost no memory for good', async () => {
  const store = await openStore(undefined)
  const opened: AsyncIterator<unknown>[] = []
  const values = store.db.values.bind(store.db)
  store.db.values = (range) => {
    const iterator = values(range)
    opened.push(iterator as unknown as AsyncIterator<unknown>) // LevelDB's iterators are both
    return iterator
  }
  const schema = { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] }
  const attributes = { AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }] }
  await perform(store, 'CreateTable', { TableName, ...schema, ...attributes })
  await vi.waitFor(() => getTable(store, TableName))
  for (const pk of ['A', 'B', 'C']) await perform(store, 'PutItem', { TableName, Item: { pk: { S: pk } } })
  await perform(store, 'Scan', { TableName })
  await perform(store, 'Scan', { TableName, Limit: 1 })
  expect(opened).toHaveLength(2)
  for (const iterator of opened) {
    await vi.waitFor(() => expect(iterator.next()).rejects.toMatchObject({ code: 'LEVEL_ITERATOR_NOT_OPEN' }))
  }
  await store.db.close()
})
