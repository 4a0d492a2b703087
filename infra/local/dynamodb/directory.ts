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
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const store = await openStore(join(directory, 'items'))
    await writeFile(owner, JSON.stringify({ pid: process.pid }))
    return {
      store,
      async release() {
        await rm(owner, { force: true }) // while we still have the lock: afterwards the file may be the next owner's
        await store.db.close()
      },
    }
  } catch (error) {
    if (isLocked(error)) throw await inUse(directory, owner, error)
    const reason = error instanceof Error ? (rootCause(error).message ?? error.message) : String(error)
    throw new StateError(
      'state_unusable',
      `The state in ${directory} can't be opened: ${reason}. Make the directory writable, or choose another one.`,
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

function isLocked(error: unknown): boolean {
  return error instanceof Error && (rootCause(error) as NodeJS.ErrnoException).code === 'LEVEL_LOCKED'
}

function rootCause(error: Error): Error {
  return error.cause instanceof Error ? rootCause(error.cause) : error
}
