/**
 * Records in memory, for a stand-in without a life after its process. A read costs no more than the search for the
 * record.
 */

import type { Id, Kind, Kinds } from './access.ts'
import { compareIds, type Storage } from './storage.ts'

interface Kept {
  readonly id: Id
  readonly parent: Id
  readonly record: Kinds[Kind]
}

export function memoryStorage(): Storage {
  const byId = new Map<Kind, Map<Id, Kept>>()
  const byParent = new Map<Kind, Map<Id, Kept[]>>()
  const series = new Map<string, number>()
  /** The steps that undo the current change, newest last. */
  let undo: (() => void)[] = []

  function place(kind: Kind, id: Id, next: Kept | undefined): void {
    const all = within(byId, kind, () => new Map<Id, Kept>())
    const siblings = (parent: Id) =>
      within(
        within(byParent, kind, () => new Map<Id, Kept[]>()),
        parent,
        () => [],
      )
    const before = all.get(id)
    if (before !== undefined) {
      const among = siblings(before.parent)
      among.splice(among.indexOf(before), 1)
      all.delete(id)
    }
    if (next !== undefined) {
      all.set(id, next)
      insert(siblings(next.parent), next)
    }
    undo.push(() => place(kind, id, before))
  }

  return {
    get: <K extends Kind>(kind: K, id: Id) => byId.get(kind)?.get(id)?.record as Kinds[K] | undefined,
    find<K extends Kind>(kind: K, id: Id) {
      const kept = byId.get(kind)?.get(id)
      return kept && { parent: kept.parent, record: kept.record as Kinds[K] }
    },
    entries: <K extends Kind>(kind: K, parent: Id) =>
      (byParent.get(kind)?.get(parent) ?? []).map(({ id, record }): [Id, Kinds[K]] => [id, record as Kinds[K]]),
    change(decide) {
      undo = []
      try {
        return decide({
          put: (kind, id, parent, record) => place(kind, id, { id, parent, record: frozen(record) }),
          remove: (kind, id) => place(kind, id, undefined),
          next(name, first) {
            const before = series.get(name)
            const value = before === undefined ? first : before + 1
            series.set(name, value)
            undo.push(() => (before === undefined ? series.delete(name) : series.set(name, before)))
            return value
          },
        })
      } catch (error) {
        for (const takeBack of undo.toReversed()) takeBack()
        throw error
      }
    },
    close: () => {},
  }
}

/** Nearly every record comes after all others: ids count up. */
function insert(among: Kept[], kept: Kept): void {
  let at = among.length
  while (at > 0 && compareIds(among[at - 1]?.id ?? kept.id, kept.id) > 0) at -= 1
  among.splice(at, 0, kept)
}

function within<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** A caller that changes a record would change the past; a frozen record makes the mistake visible at once. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
