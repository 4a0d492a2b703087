/**
 * Lets dynalite's actions decide without a write. An action sees the store as usual, but its writes are collected, so
 * that an item and its index rows, or a whole transaction, become one LevelDB batch: all or nothing, even if the
 * process dies. (dynalite alone writes index rows and item one after the other.)
 */
import {
  type Answer,
  callBack,
  type Item,
  indexRows,
  itemRows,
  type Operation,
  perform,
  type Request,
  type Store,
  type Write,
} from './dynalite.ts'
import { ServiceError } from './errors.ts'

interface Staging {
  /** The store for the action. */
  readonly store: Store
  readonly writes: Write[]
  /** The item that the action found, if the action looked for an item. */
  found: Item | undefined
}

/**
 * The answer and the writes of an action, an item's own write after the writes of its index rows; or the action's
 * refusal.
 */
export type Attempt =
  | { readonly answer: Answer; readonly writes: readonly Write[] }
  | { readonly refused: ServiceError }

/** Performs a write of one item with its index rows. The error of a failed condition has the `Item`, if requested. */
export async function writeOne(
  store: Store,
  operation: Operation,
  request: Request,
  returnFound: boolean,
): Promise<Answer> {
  // The batch is written together with the item, inside dynalite's lock on that item.
  const staging = stage(store, (writes) => store.db.batch(writes))
  try {
    return await perform(staging.store, operation, request)
  } catch (error) {
    throw withFound(error, returnFound, staging)
  }
}

/** Finds an action's writes. No other write may happen until the caller's batch. */
export async function attempt(
  store: Store,
  operation: Operation,
  request: Request,
  returnFound: boolean,
): Promise<Attempt> {
  const staging = stage(store, () => Promise.resolve())
  try {
    const answer = await perform(staging.store, operation, request)
    return { answer, writes: staging.writes }
  } catch (error) {
    const refused = withFound(error, returnFound, staging)
    if (refused instanceof ServiceError) return { refused }
    throw refused
  }
}

function stage(store: Store, whenItemIsWritten: (writes: readonly Write[]) => Promise<void>): Staging {
  const staging: Staging = { store: { ...store, getItemDb, getIndexDb }, writes: [], found: undefined }
  return staging

  function getItemDb(table: string): ReturnType<Store['getItemDb']> {
    const items = store.getItemDb(table)
    const prefix = itemRows(table)
    return {
      lock: items.lock,
      get(key, done) {
        items.get(key, (error, item) => {
          staging.found = item
          done(error, item)
        })
      },
      put(key, value, done) {
        staging.writes.push({ type: 'put', key: prefix + key, value })
        callBack(whenItemIsWritten(staging.writes), done)
      },
      del(key, done) {
        staging.writes.push({ type: 'del', key: prefix + key })
        callBack(whenItemIsWritten(staging.writes), done)
      },
    }
  }

  function getIndexDb(kind: string, table: string, index: string): ReturnType<Store['getIndexDb']> {
    const prefix = indexRows(table, index)
    return {
      ...store.getIndexDb(kind, table, index),
      put(key, value, done) {
        staging.writes.push({ type: 'put', key: prefix + key, value })
        done(null)
      },
      del(key, done) {
        staging.writes.push({ type: 'del', key: prefix + key })
        done(null)
      },
    }
  }
}

function withFound(error: unknown, returnFound: boolean, staging: Staging): unknown {
  if (!returnFound || staging.found === undefined) return error
  if (!(error instanceof ServiceError) || error.name !== 'ConditionalCheckFailedException') return error
  return new ServiceError(error.name, error.message, { Item: staging.found }, { cause: error })
}
