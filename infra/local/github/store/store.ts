/** The stand-in's state: records, changed in transactions, and their earlier versions, for lagging reads. */

import type { Reader, Writer } from './access.ts'
import { createRecordHistory } from './history.ts'
import type { Storage } from './storage.ts'

export interface Store extends Reader {
  /** Runs `decide` in one transaction; an error undoes all changes. Synchronous on purpose: nothing comes between. */
  change<T>(decide: (writer: Writer) => T): T
  /** The state of a replica that lags by `lagMs`; at most `LAG_MS_MAX`. */
  behind(lagMs: number): Reader
  /** Resolves at the next change. */
  changed(): Promise<void>
  close(): void
}

/** The parent of kinds without a parent. */
export const TOP = ''

export function createStore(storage: Storage, now: () => number): Store {
  const past = createRecordHistory(storage, now)
  let waiting = Promise.withResolvers<void>()
  const reader: Reader = {
    get: (kind, id) => storage.get(kind, id),
    list: (kind, parent) => storage.entries(kind, parent).map(([, record]) => record),
  }
  return {
    ...reader,
    behind: past.behind,
    change(decide) {
      const keeping = past.begin()
      const result = storage.change((writing) =>
        decide({
          ...reader,
          next: writing.next,
          put(kind, id, parent, record) {
            keeping.keep(kind, id)
            writing.put(kind, id, parent, record)
          },
          remove(kind, id) {
            keeping.keep(kind, id)
            writing.remove(kind, id)
          },
        }),
      )
      keeping.done()
      waiting.resolve()
      waiting = Promise.withResolvers<void>()
      return result
    },
    changed: () => waiting.promise,
    close: () => storage.close(),
  }
}
