/** The content of one table: items and indexes. An index follows the items at once or with a lag. */
import type { WorldClock } from '../service.ts'
import { Rows } from './rows.ts'
import { type IndexSchema, indexRow, type TableSchema } from './schema.ts'
import type { Attributes } from './values.ts'

/** One item before and after a change; undefined for an absent item. */
export interface ItemChange {
  readonly primary: string
  readonly before: Attributes | undefined
  readonly after: Attributes | undefined
}

/** How long an index stays behind the table at a change, in ms. */
export type IndexLag = () => number

interface LateRow {
  readonly primary: string
  readonly visibleAt: number
  readonly row: Attributes | undefined
}

export class TableData {
  readonly schema: TableSchema
  readonly items: Rows
  readonly #indexes: ReadonlyMap<string, LaggingIndex>
  /** Settings that are stored and described, without effect. */
  timeToLiveAttribute: string | undefined
  pointInTimeRecovery = false

  constructor(schema: TableSchema, now: WorldClock, lag: IndexLag | undefined) {
    this.schema = schema
    this.items = new Rows(schema)
    this.#indexes = new Map(schema.indexes.map((index) => [index.name, new LaggingIndex(schema, index, now, lag)]))
  }

  /** Stores a change; returns the number of written index rows. */
  store({ primary, after }: ItemChange): number {
    this.items.put(primary, after)
    let written = 0
    for (const index of this.#indexes.values()) if (index.follow(primary, after)) written++
    return written
  }

  /** An index as a reader sees it now; undefined if the table has no index of this name. */
  index(name: string): { readonly schema: IndexSchema; readonly rows: Rows } | undefined {
    const index = this.#indexes.get(name)
    return index && { schema: index.schema, rows: index.current() }
  }
}

class LaggingIndex {
  readonly schema: IndexSchema
  readonly #table: TableSchema
  readonly #rows: Rows
  readonly #now: WorldClock
  readonly #lag: IndexLag | undefined
  /** The newest row of each item, visible already or not. */
  readonly #newest = new Map<string, { readonly row: Attributes | undefined; readonly visibleAt: number }>()
  #late: LateRow[] = []

  constructor(table: TableSchema, schema: IndexSchema, now: WorldClock, lag: IndexLag | undefined) {
    this.schema = schema
    this.#table = table
    this.#rows = new Rows(schema)
    this.#now = now
    this.#lag = lag
  }

  /** Takes up a change of an item, if the change alters the item's row. */
  follow(primary: string, after: Attributes | undefined): boolean {
    const row = after && indexRow(this.#table, this.schema, after)
    const newest = this.#newest.get(primary)
    if (sameRow(newest?.row, row)) return false
    // Changes of one item reach an index in their order.
    const visibleAt = this.#lag ? Math.max(newest?.visibleAt ?? 0, this.#now() + this.#lag()) : 0
    this.#newest.set(primary, { row, visibleAt })
    if (this.#lag) this.#late.push({ primary, visibleAt, row })
    else this.#rows.put(primary, row)
    return true
  }

  current(): Rows {
    if (this.#late.length === 0) return this.#rows
    const now = this.#now()
    const visible = this.#late.filter(({ visibleAt }) => visibleAt <= now)
    if (visible.length > 0) {
      this.#late = this.#late.filter(({ visibleAt }) => visibleAt > now)
      for (const { primary, row } of visible) this.#rows.put(primary, row)
    }
    return this.#rows
  }
}

function sameRow(a: Attributes | undefined, b: Attributes | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined) return false
  for (const name in b) {
    const [left, right] = [a[name], b[name]]
    if (left !== right && JSON.stringify(left) !== JSON.stringify(right)) return false
  }
  return Object.keys(a).length === Object.keys(b).length
}
