/** Single writes reach the disk as one batch. */
import { expect, test, vi } from 'vitest'
import { getTable, openStore, perform, type Write } from '../../../../infra/local/dynamodb/dynalite.ts'
import { attempt, writeOne } from '../../../../infra/local/dynamodb/staging.ts'

const TableName = 'staged'
const Item = { pk: { S: 'A' }, owner: { S: 'someone' } }

async function storeWithBatches() {
  const store = await openStore(undefined)
  const hash = (AttributeName: string) => [{ AttributeName, KeyType: 'HASH' }]
  await perform(store, 'CreateTable', {
    TableName,
    KeySchema: hash('pk'),
    AttributeDefinitions: ['pk', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [
      { IndexName: 'owned', KeySchema: hash('owner'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    ],
  })
  await vi.waitFor(() => getTable(store, TableName))
  const batches: (readonly Write[])[] = []
  const batch = store.db.batch.bind(store.db)
  store.db.batch = (writes) => {
    batches.push([...writes])
    return batch(writes)
  }
  store.db.put = store.db.del = () => Promise.reject(new Error('written outside of a batch'))
  return { store, batches }
}

test('an item and the index rows are a single batch in a put, a change and a delete', async () => {
  const { store, batches } = await storeWithBatches()
  await writeOne(store, 'PutItem', { TableName, Item }, false)
  await writeOne(store, 'PutItem', { TableName, Item: { ...Item, owner: { S: 'another' } } }, false)
  await writeOne(store, 'DeleteItem', { TableName, Key: { pk: { S: 'A' } } }, false)
  expect(batches.map((writes) => writes.map(({ type, key }) => `${type} ${key.split('~')[0]}`))).toEqual([
    ['put index-global', 'put item-staged'],
    ['del index-global', 'put index-global', 'put item-staged'],
    ['del index-global', 'del item-staged'],
  ])
})

test('an attempt writes nothing', async () => {
  const { store, batches } = await storeWithBatches()
  expect(await attempt(store, 'PutItem', { TableName, Item }, false)).toMatchObject({ writes: [{}, {}] })
  expect(batches).toEqual([])
})
