/** All tables, and the only code that changes them: counts writes, forces conflicts and calls listeners. */
import { ServiceError } from '../../../../infra/local/dynamodb/errors.ts'
import type { WorldClock } from '../service.ts'
import { type PlainItem, plainItem } from './plain.ts'
import { keyAttributes, type TableSchema } from './schema.ts'
import { type IndexLag, type ItemChange, TableData } from './table-data.ts'
import type { Attributes } from './values.ts'

export type WriteKind = 'Put' | 'Update' | 'Delete' | 'ConditionCheck'

/** Requests and writes up to now. A write is counted for each item, alone or in a transaction, done or refused. */
export interface TableCounts {
  /** Requests by the operation's name, `PutItem`. */
  readonly requests: Record<string, number>
  readonly writes: Record<WriteKind, number>
  /** Writes whose condition did not hold. */
  refused: number
  /** Requests that were refused because of another transaction. */
  conflicts: number
  /** Changed rows of indexes. */
  indexWrites: number
}

/** Items that changed together. */
export interface Commit {
  readonly operation: string
  readonly changes: readonly {
    readonly table: string
    readonly key: PlainItem
    readonly before: PlainItem | undefined
    readonly after: PlainItem | undefined
  }[]
}

/** A writing request before its decision. */
export interface WriteAttempt {
  readonly operation: string
  readonly keys: readonly PlainItem[]
}

export interface TablesOptions {
  readonly now: WorldClock
  /** Called at each change of an index's row: the delay, in ms, until the index shows the change. Absent: no delay. */
  readonly indexLag?: IndexLag
  /** Called at each write or transaction: the positions of items that another transaction holds. Absent: none. */
  readonly conflicts?: (attempt: WriteAttempt) => readonly number[]
}

/** One item's part in a commit. */
export interface TableChange extends ItemChange {
  readonly table: TableData
}

export class Tables {
  readonly now: WorldClock
  readonly counts: TableCounts = {
    requests: {},
    writes: { Put: 0, Update: 0, Delete: 0, ConditionCheck: 0 },
    refused: 0,
    conflicts: 0,
    indexWrites: 0,
  }
  readonly #options: TablesOptions
  readonly #byName = new Map<string, TableData>()
  readonly #listeners: ((commit: Commit) => void)[] = []

  constructor(options: TablesOptions) {
    this.now = options.now
    this.#options = options
  }

  /** Throws ResourceInUseException if the table exists. */
  create(schema: TableSchema): TableData {
    if (this.#byName.has(schema.name)) {
      throw new ServiceError('ResourceInUseException', `Table already exists: ${schema.name}`)
    }
    const table = new TableData(schema, this.now, this.#options.indexLag)
    this.#byName.set(schema.name, table)
    return table
  }

  /** Throws ResourceNotFoundException for an unknown table. */
  table(name: unknown): TableData {
    const table = this.#byName.get(String(name))
    if (table !== undefined) return table
    throw new ServiceError('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`)
  }

  all(): IterableIterator<TableData> {
    return this.#byName.values()
  }

  onCommit(listener: (commit: Commit) => void): void {
    this.#listeners.push(listener)
  }

  /** The positions of items that the simulation declares held by another transaction. */
  conflictsOf(
    operation: string,
    items: readonly { readonly table: TableData; readonly key: Attributes }[],
  ): readonly number[] {
    if (this.#options.conflicts === undefined) return []
    const positions = this.#options.conflicts({ operation, keys: items.map(({ table, key }) => keyOf(table, key)) })
    if (positions.length > 0) this.counts.conflicts++
    return positions
  }

  /** Stores changes as one, and then calls the listeners. */
  commit(operation: string, changes: readonly TableChange[]): void {
    for (const change of changes) this.counts.indexWrites += change.table.store(change)
    // Deleting an absent item, or checking a condition, changes nothing.
    const changed = changes.filter(({ before, after }) => before !== undefined || after !== undefined)
    if (this.#listeners.length === 0 || changed.length === 0) return
    const commit: Commit = {
      operation,
      changes: changed.map(({ table, before, after }) => ({
        table: table.schema.name,
        key: keyOf(table, after ?? before ?? {}),
        before: before && plainItem(before),
        after: after && plainItem(after),
      })),
    }
    for (const listener of this.#listeners) listener(commit)
  }
}

function keyOf(table: TableData, item: Attributes): PlainItem {
  const key = keyAttributes(table.schema).flatMap(({ name }) => (item[name] ? [[name, item[name]] as const] : []))
  return plainItem(Object.fromEntries(key))
}
