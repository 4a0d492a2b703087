/** The storage of the stand-in's records: on disk, or in memory. */
import type { Id, Kind, Kinds, Writer } from './access.ts'

/** A reader never changes a record in place: a changed record is put anew. */
export interface Storage {
  get<K extends Kind>(kind: K, id: Id): Kinds[K] | undefined
  /** All records of a kind below `parent`, with their ids, in the order of the ids: numbers, then texts. */
  entries<K extends Kind>(kind: K, parent: Id): [id: Id, record: Kinds[K]][]
  /** The record with its parent. */
  find<K extends Kind>(kind: K, id: Id): { parent: Id; record: Kinds[K] } | undefined
  /** Runs `decide` in one transaction; an error undoes all changes. Synchronous on purpose: nothing comes between. */
  change<T>(decide: (writing: Pick<Writer, 'put' | 'remove' | 'next'>) => T): T
  close(): void
}

export function compareIds(one: Id, other: Id): number {
  if (typeof one !== typeof other) return typeof one === 'number' ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}
