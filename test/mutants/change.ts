/** One change of one source file, made while it is loaded: no file is written. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export interface Change {
  /** Below the repository, such as `shared/fleet/lease.ts`. */
  readonly file: string
  /** Text that stands in the file exactly once. */
  readonly find: string
  readonly replace: string
}

/** Where a change is handed to the processes that judge it. */
const VARIABLE = 'MUSTER_MUTANT'

const repositoryRoot = path.resolve(import.meta.dirname, '../..')

/** The source with the change. Throws unless the text stands there exactly once: a list that doesn't fit the code proves nothing. */
export function changedText({ file, find, replace }: Change, source: string): string {
  const times = source.split(find).length - 1
  if (times !== 1) throw new Error(`Expected once in ${file}, found ${times} times: ${find}`)
  return source.replace(find, () => replace)
}

/** The file of a change as it would be with it. */
export function changedFile(change: Change): string {
  return changedText(change, readFileSync(pathOf(change), 'utf8'))
}

/** The absolute path of a file below the repository. */
export function pathOf({ file }: Pick<Change, 'file'>): string {
  return path.join(repositoryRoot, file)
}

/** The environment of a process that is to run with this change; without one, of a process that runs the code as it is. */
export function environmentOf(change: Change | undefined): NodeJS.ProcessEnv {
  const { [VARIABLE]: _outer, ...environment } = process.env
  return change ? { ...environment, [VARIABLE]: JSON.stringify(change) } : environment
}

/** The change that this process is to run with. */
export function changeOfProcess(): Change | undefined {
  const text = process.env[VARIABLE]
  return text === undefined ? undefined : (JSON.parse(text) as Change)
}
