/**
 * One process at a time has a state directory. LevelDB's own lock decides: the system frees the lock with the death of
 * its holder, however the holder dies, so the lock can't be stale and needs no take-over. The owner file beside the
 * lock only tells people the holder's process id.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore, type Store } from './dynalite.ts'
import { StateError } from './errors.ts'

export interface ClaimedStore {
  readonly store: Store
  /** Closes the store and frees the directory. */
  release(): Promise<void>
}

/**
 * Opens the store in `directory`, made if absent and readable by its owner only. Rejects with `state_in_use` while
 * another process has the directory, and with `state_unusable` for an unreadable or unwritable directory.
 */
export async function claimDirectory(directory: string): Promise<ClaimedStore> {
  const owner = join(directory, 'owner.json')
  let store: Store | undefined
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const claimed = await openStore(join(directory, 'items'))
    store = claimed
    await writeFile(owner, JSON.stringify({ pid: process.pid }))
    return {
      store: claimed,
      async release() {
        await rm(owner, { force: true }) // before the lock is free: afterwards the file may be the next owner's
        await claimed.db.close()
      },
    }
  } catch (error) {
    await store?.db.close()
    const cause = rootCause(error)
    if (cause.code === 'LEVEL_LOCKED') throw await inUse(directory, owner, error)
    throw new StateError(
      'state_unusable',
      `The state in ${directory} can't be opened: ${cause.message}. Make the directory writable, or choose another one.`,
      { cause: error },
    )
  }
}

async function inUse(directory: string, owner: string, cause: unknown): Promise<StateError> {
  const pid = await readPid(owner)
  const holder = pid === undefined ? 'another process' : `process ${pid}`
  return new StateError(
    'state_in_use',
    `The state in ${directory} is in use by ${holder}. Stop that process, or choose another directory.`,
    { cause },
  )
}

/** The holder may be starting or stopping: then no pid is the right answer. */
async function readPid(owner: string): Promise<number | undefined> {
  try {
    const { pid } = JSON.parse(await readFile(owner, 'utf8')) as { pid?: unknown }
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined
  }
}

/** LevelDB's reason is in the cause of "database is not open". */
function rootCause(error: unknown): NodeJS.ErrnoException {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error ? rootCause(error.cause) : error
}
