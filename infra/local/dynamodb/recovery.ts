/**
 * Puts right, before the first request, what a killed process left. Items, their index rows and transactions are
 * written in one batch each and can't be torn; changes of tables aren't: dynalite answers first and finishes later.
 */
import {
  expectedIndexRows,
  type Item,
  indexKinds,
  indexRows,
  itemRows,
  type Store,
  startingWith,
  type Table,
  tableRows,
  tagRows,
  type Write,
} from './dynalite.ts'
import { forgetSettings } from './settings.ts'

/** Finishes changes of tables, then makes every index agree with its table's items. Repeatable. */
export async function recover(store: Store): Promise<void> {
  for await (const [key, value] of store.db.iterator(startingWith(tableRows()))) {
    const table = value as Table
    if (table.TableStatus === 'DELETING') {
      await finishDeletion(store, key, table)
    } else {
      if (table.TableStatus !== 'ACTIVE') await activate(store, key, table)
      await repairIndexes(store, table)
    }
  }
}

async function activate(store: Store, key: string, table: Table): Promise<void> {
  table.TableStatus = 'ACTIVE'
  for (const index of table.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE'
  await store.db.put(key, table)
}

async function finishDeletion(store: Store, key: string, { TableName }: Table): Promise<void> {
  const rows = [itemRows(TableName), tagRows(TableName), indexRows('local', TableName), indexRows('global', TableName)]
  for (const prefix of rows) await store.db.clear(startingWith(prefix))
  await forgetSettings(store, TableName)
  await store.db.del(key)
}

/**
 * Compares the index rows that the items call for with those that there are, and writes the difference.
 * A store that only this service wrote shows none; one that dynalite alone wrote may, after a kill.
 */
async function repairIndexes(store: Store, table: Table): Promise<void> {
  const missing = new Map<string, Item>()
  for await (const [, item] of store.db.iterator(startingWith(itemRows(table.TableName)))) {
    for (const [key, row] of expectedIndexRows(table, item as Item)) missing.set(key, row)
  }
  const repairs: Write[] = []
  for (const [kind] of indexKinds(table)) {
    for await (const [key, row] of store.db.iterator(startingWith(indexRows(kind, table.TableName)))) {
      const expected = missing.get(key)
      if (expected === undefined) repairs.push({ type: 'del', key })
      else if (JSON.stringify(expected) === JSON.stringify(row)) missing.delete(key)
    }
  }
  for (const [key, value] of missing) repairs.push({ type: 'put', key, value })
  await store.db.batch(repairs)
}
