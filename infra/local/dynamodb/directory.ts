/**
 * One process at a time has a state directory. LevelDB's own lock decides: the system gives it back when its holder
 * dies, however it dies, so it can't be stale and needs no take-over. Our file beside it only tells people whose it is.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore, type Store } from './dynalite.ts'
import { StateError } from './errors.ts'

export interface ClaimedStore {
  readonly store: Store
  /** Closes the store and leaves the directory to others. */
  release(): Promise<void>
}

/**
 * Opens the store in `directory`, made if need be and readable by its owner only.
 * Rejects with `state_in_use` while another process has it, and with `state_unusable` if it can't be read or written.
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
        await rm(owner, { force: true }) // while we still have the lock: afterwards the file may be the next owner's
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

/** The holder may be just starting or stopping: then nobody's pid is the right answer. */
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
