/** Where the stand-in's records are kept: on disk, or in memory. */
import type { Id, Kind, Kinds, Writer } from './access.ts'

/** What is read is never changed in place: a changed record is put anew. */
export interface Storage {
  get<K extends Kind>(kind: K, id: Id): Kinds[K] | undefined
  /** Everything of a kind that belongs to `parent`, with its id, in the order of the ids: numbers, then texts. */
  entries<K extends Kind>(kind: K, parent: Id): [id: Id, record: Kinds[K]][]
  /** The record with what it belongs to. */
  find<K extends Kind>(kind: K, id: Id): { parent: Id; record: Kinds[K] } | undefined
  /** Runs `decide` in one transaction; if it throws, nothing has changed. Synchronous on purpose: nothing comes between. */
  change<T>(decide: (writing: Pick<Writer, 'put' | 'remove' | 'next'>) => T): T
  close(): void
}

export function compareIds(one: Id, other: Id): number {
  if (typeof one !== typeof other) return typeof one === 'number' ? -1 : 1
  return one < other ? -1 : one > other ? 1 : 0
}
