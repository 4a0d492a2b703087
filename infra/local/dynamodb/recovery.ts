/**
 * Repairs, before the first request, the traces of a killed process. Items, their index rows and transactions are
 * written in one batch each and can't be torn. The making of a table can be torn: dynalite answers first and finishes
 * later.
 */
import {
  expectedIndexRows,
  type Item,
  indexRows,
  itemRows,
  type Store,
  startingWith,
  type Table,
  tableRows,
  type Write,
} from './dynalite.ts'

/** Finishes the making of tables, then makes every index agree with its table's items. Repeatable. */
export async function recover(store: Store): Promise<void> {
  for await (const [key, value] of store.db.iterator(startingWith(tableRows()))) {
    const table = value as Table
    if (table.TableStatus !== 'ACTIVE') await activate(store, key, table)
    await repairIndexes(store, table)
  }
}

async function activate(store: Store, key: string, table: Table): Promise<void> {
  table.TableStatus = 'ACTIVE'
  for (const index of table.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE'
  await store.db.put(key, table)
}

/**
 * Compares the expected index rows of the items with the existing rows, and writes the difference. A store written by
 * this service alone has none; a store written by dynalite alone may have some, after a kill.
 */
async function repairIndexes(store: Store, table: Table): Promise<void> {
  const missing = new Map<string, Item>()
  for await (const [, item] of store.db.iterator(startingWith(itemRows(table.TableName)))) {
    for (const [key, row] of expectedIndexRows(table, item as Item)) missing.set(key, row)
  }
  const repairs: Write[] = []
  for await (const [key, row] of store.db.iterator(startingWith(indexRows(table.TableName)))) {
    const expected = missing.get(key)
    if (expected === undefined) repairs.push({ type: 'del', key })
    else if (JSON.stringify(expected) === JSON.stringify(row)) missing.delete(key)
  }
  for (const [key, value] of missing) repairs.push({ type: 'put', key, value })
  await store.db.batch(repairs)
}
