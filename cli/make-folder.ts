/**
 * Makes a folder with its parents. Node.js's own recursive `mkdir` never ends where the system answers ENOENT for good.
 */
import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { CommandFailure } from './errors.ts'

/** Makes `folder` if absent. Throws `state_unusable`, exit 69, where the system refuses. */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = []
  for (let next = path.resolve(folder); !(await exists(next)); next = path.dirname(next)) missing.unshift(next)
  for (const one of missing) {
    await mkdir(one, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return
      const sentence = `The folder ${one} can't be made (${error.code ?? 'unknown'}).`
      throw new CommandFailure('state_unusable', sentence, 'Choose another folder with --state.', 'unavailable', {
        cause: error,
      })
    })
  }
}

async function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
}
