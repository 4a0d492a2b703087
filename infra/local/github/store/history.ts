/**
 * Earlier versions of changed records, for the longest possible lag of a read. The history isn't stored: after a
 * restart the replicas have caught up.
 */

import type { Id, Kind, Kinds, Reader } from './access.ts'
import { compareIds, type Storage } from './storage.ts'

/** The longest lag of a replica, ms, and so the life of a replaced version. GitHub's own lag is a matter of seconds. */
export const LAG_MS_MAX = 600_000

/** Kinds that no lagging read touches; deliveries are large. */
const ALWAYS_CURRENT: ReadonlySet<Kind> = new Set(['delivery', 'token'])

interface Version {
  readonly kind: Kind
  readonly id: Id
  /** Undefined: no earlier version. */
  readonly found: { readonly parent: Id; readonly record: Kinds[Kind] } | undefined
  readonly replacedAt: number
}

export interface RecordHistory {
  behind(lagMs: number): Reader
  /** For one change: `keep` before each write, `done` once the change has taken effect. */
  begin(): { keep(kind: Kind, id: Id): void; done(): void }
}

export function createRecordHistory(storage: Storage, now: () => number): RecordHistory {
  /** Oldest first. */
  let versions: Version[] = []

  /** By id, the versions that a replica still shows in place of the records changed since `at`. */
  function shownInstead(kind: Kind, at: number, id?: Id): Map<Id, Version['found']> {
    const shown = new Map<Id, Version['found']>()
    for (const version of versions) {
      if (version.replacedAt <= at || version.kind !== kind || (id !== undefined && version.id !== id)) continue
      if (!shown.has(version.id)) shown.set(version.id, version.found)
    }
    return shown
  }

  return {
    behind: (lagMs) => ({
      get<K extends Kind>(kind: K, id: Id) {
        const instead = shownInstead(kind, now() - lagMs, id)
        return instead.has(id) ? (instead.get(id)?.record as Kinds[K] | undefined) : storage.get(kind, id)
      },
      list<K extends Kind>(kind: K, parent: Id) {
        const instead = shownInstead(kind, now() - lagMs)
        const entries = storage.entries(kind, parent).filter(([id]) => !instead.has(id))
        for (const [id, found] of instead) {
          if (found?.parent === parent) entries.push([id, found.record as Kinds[K]])
        }
        return entries.sort(([one], [other]) => compareIds(one, other)).map(([, record]) => record)
      },
    }),
    begin() {
      const replaced: Version[] = []
      return {
        keep(kind, id) {
          if (ALWAYS_CURRENT.has(kind)) return
          replaced.push({ kind, id, found: storage.find(kind, id), replacedAt: now() })
        },
        done() {
          const oldest = now() - LAG_MS_MAX
          const gone = versions.findIndex(({ replacedAt }) => replacedAt > oldest)
          versions = [...(gone === -1 ? [] : versions.slice(gone)), ...replaced]
        },
      }
    },
  }
}
