/** One change of one source file, applied while the file is loaded; no file is written. */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export interface Change {
  /** Relative to the repository, such as `shared/fleet/lease.ts`. */
  readonly file: string
  /** Text that occurs in the file exactly once. */
  readonly find: string
  readonly replace: string
}

/** Hands a change to the judging processes. */
const VARIABLE = 'MUSTER_MUTANT'

const repositoryRoot = path.resolve(import.meta.dirname, '../..')

/**
 * The source with the change. Throws unless the text occurs exactly once: a list that doesn't fit the code proves
 * nothing.
 */
export function changedText({ file, find, replace }: Change, source: string): string {
  const times = source.split(find).length - 1
  if (times !== 1) throw new Error(`Expected once in ${file}, found ${times} times: ${find}`)
  return source.replace(find, () => replace)
}

/** The changed content of the file. */
export function changedFile(change: Change): string {
  return changedText(change, readFileSync(pathOf(change), 'utf8'))
}

/** The absolute path of a file of the repository. */
export function pathOf({ file }: Pick<Change, 'file'>): string {
  return path.join(repositoryRoot, file)
}

/**
 * The environment of a process that runs with this change; without a change, of a process that runs the original code.
 */
export function environmentOf(change: Change | undefined): NodeJS.ProcessEnv {
  const { [VARIABLE]: _outer, ...environment } = process.env
  return change ? { ...environment, [VARIABLE]: JSON.stringify(change) } : environment
}

/** The change of this process. */
export function changeOfProcess(): Change | undefined {
  const text = process.env[VARIABLE]
  return text === undefined ? undefined : (JSON.parse(text) as Change)
}
