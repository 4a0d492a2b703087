/** Rows in the order of DynamoDB: by partition, then by range key. */
import { compareRanges, type KeySchema, keyText } from './schema.ts'
import { type Attributes, compareTexts } from './values.ts'

export interface Row {
  /** The primary key of the item; breaks ties between equal rows of an index. */
  readonly primary: string
  readonly item: Attributes
}

/** The rows of a table or an index. */
export class Rows {
  readonly #schema: KeySchema
  readonly #partitions = new Map<string, Row[]>()
  readonly #byPrimary = new Map<string, Row>()

  constructor(schema: KeySchema) {
    this.#schema = schema
  }

  get(primary: string): Row | undefined {
    return this.#byPrimary.get(primary)
  }

  /** All rows, in the order of their first store. */
  all(): IterableIterator<Row> {
    return this.#byPrimary.values()
  }

  /** The rows with a hash key, in order. */
  partition(hash: string): readonly Row[] {
    return this.#partitions.get(hash) ?? []
  }

  /** Stores or replaces an item's row; an undefined item deletes the row. */
  put(primary: string, item: Attributes | undefined): void {
    const before = this.#byPrimary.get(primary)
    if (item === undefined) {
      if (before !== undefined) this.#remove(before)
      return
    }
    const row = { primary, item }
    if (before !== undefined && this.#isInPlaceOf(before, row)) {
      const rows = this.#partitions.get(this.#hashOf(row))
      if (rows !== undefined) rows[this.#placeOf(rows, before)] = row
    } else {
      if (before !== undefined) this.#remove(before)
      this.#insert(row)
    }
    this.#byPrimary.set(primary, row)
  }

  /** The position of a row in its partition, present or not. */
  #placeOf(rows: readonly Row[], row: Row): number {
    let [from, to] = [0, rows.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      const at = rows[middle]
      if (at !== undefined && this.compare(at, row) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  /** Negative, zero or positive like `a - b`, for rows of one partition. */
  compare(a: Row, b: Row): number {
    return compareRanges(this.#schema, a.item, b.item) || compareTexts(a.primary, b.primary)
  }

  #isInPlaceOf(before: Row, row: Row): boolean {
    return this.#hashOf(before) === this.#hashOf(row) && this.compare(before, row) === 0
  }

  #insert(row: Row): void {
    const hash = this.#hashOf(row)
    const rows = this.#partitions.get(hash)
    if (rows === undefined) this.#partitions.set(hash, [row])
    else rows.splice(this.#placeOf(rows, row), 0, row)
  }

  #remove(row: Row): void {
    const hash = this.#hashOf(row)
    const rows = this.#partitions.get(hash)
    if (rows === undefined) return
    rows.splice(this.#placeOf(rows, row), 1)
    if (rows.length === 0) this.#partitions.delete(hash)
    this.#byPrimary.delete(row.primary)
  }

  #hashOf({ item }: Row): string {
    return keyText(item[this.#schema.hash.name])
  }
}
