/** Every failure as one line for a person: a stable code, a sentence, the remedy; the stack goes to a file. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { EXIT_CODES, type ExitName } from './exit-codes.ts'

/** A failure that the command line itself explains. `message` is the sentence. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly code: string
  readonly remedy: string
  readonly exit: ExitName

  constructor(code: string, sentence: string, remedy: string, exit: ExitName, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
    this.remedy = remedy
    this.exit = exit
  }
}

/** The parts of a failure's line. */
export interface Explanation {
  readonly code: string
  /** Sentence and remedy, without a line end. */
  readonly text: string
  readonly exit: ExitName
}

/** The file in the state folder with the stack of the last failure. */
const DETAILS_FILE = 'last-error.txt'

/**
 * Codes of the services in `infra/local` and of git whose cause is the caller's argument; all others are `unavailable`.
 */
const CODES_OF_USAGE = new Set(['not_a_git_repository', 'unknown_commit', 'invalid_repository_name'])

/** The system's codes for an unusable state folder. */
const CODES_OF_STATE = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
  'ENAMETOOLONG',
  'ELOOP',
])

/** The form of the services' own messages: `code: sentence. Remedy.` */
const CODED = /^([a-z0-9]+(?:_[a-z0-9]+)+): (.+)$/s

/** The explanation of any thrown value. */
export function explain(error: unknown): Explanation {
  if (error instanceof CommandFailure) {
    return { code: error.code, text: `${error.message} ${error.remedy}`, exit: error.exit }
  }
  const causes = causesOf(error)
  if (causes.some(isMissingGit)) {
    const text = 'git could not be started. Install git, or add it to PATH.'
    return { code: 'git_not_found', text, exit: 'unavailable' }
  }
  for (const cause of causes) {
    const known = explainKnown(cause)
    if (known) return known
  }
  const what = error instanceof Error ? error.message : String(error)
  return { code: 'internal_error', text: `${oneLine(what)} This is a fault of Muster.`, exit: 'internal' }
}

/**
 * The line for stderr. The stack is written to `<state>/last-error.txt`, and the line names the file where the file
 * helps: for faults of Muster. A state folder without write permission makes no second failure.
 */
export function report(error: unknown, stateDirectory: string): { line: string; exitCode: number } {
  const { code, text, exit } = explain(error)
  const details = exit === 'usage' ? undefined : writeDetails(error, stateDirectory)
  const where = exit === 'internal' && details !== undefined ? ` Details: ${details}` : ''
  return { line: `muster: ${code}: ${oneLine(text)}${where}`, exitCode: EXIT_CODES[exit].code }
}

function explainKnown(error: Error): Explanation | undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'state_in_use') return stateInUse(error.message)
  if (code === 'state_unusable') return { code, text: error.message, exit: 'unavailable' }
  if (code === 'EADDRINUSE') {
    const { port } = error as NodeJS.ErrnoException & { port?: number }
    const sentence = `Port ${port ?? ''} is in use by another process.`
    return {
      code: 'port_in_use',
      text: `${sentence} Name another port with --port; --port 0 takes a free one.`,
      exit: 'unavailable',
    }
  }
  if (code !== undefined && CODES_OF_STATE.has(code)) {
    const { path: file = 'a file' } = error as NodeJS.ErrnoException
    const why = code === 'ENOSPC' ? 'the disk is full' : `the system forbids access (${code})`
    const text = `${file} could not be used: ${why}. Free some space, change the owner, or choose another --state.`
    return { code: 'state_unusable', text, exit: 'unavailable' }
  }
  const [, own, text] = CODED.exec(error.message) ?? []
  if (own === undefined || text === undefined) return undefined
  // Several services have their own code for a state in use; a person knows one.
  if (own.endsWith('state_in_use')) return stateInUse(text)
  return { code: own, text, exit: CODES_OF_USAGE.has(own) ? 'usage' : 'unavailable' }
}

/**
 * The services name their own folder and remedy. A person has named one state, and wants two reviews at once, or an end
 * of the other process.
 */
function stateInUse(text: string): Explanation {
  const [holder = 'another process'] = /process \d+/.exec(text) ?? []
  const remedy =
    'Wait until that process ends, stop the process, or choose another --state. "muster up" serves several reviews at once.'
  return { code: 'state_in_use', text: `The state is in use by ${holder}. ${remedy}`, exit: 'unavailable' }
}

/** The caller of git reports its own failure first; the helpful cause is the missing git. */
function isMissingGit(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return error.message.startsWith('git_not_found') || (code === 'ENOENT' && syscall === 'spawn git')
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let next = error; next instanceof Error && !causes.includes(next); next = next.cause) causes.push(next)
  return causes
}

function writeDetails(error: unknown, stateDirectory: string): string | undefined {
  const file = path.join(stateDirectory, DETAILS_FILE)
  const stacks =
    error instanceof Error ? causesOf(error).map(({ stack, message }) => stack ?? message) : [String(error)]
  try {
    if (!existsSync(stateDirectory)) mkdirSync(stateDirectory, { mode: 0o700 })
    writeFileSync(file, `${new Date().toISOString()}\n${stacks.join('\ncaused by ')}\n`, { mode: 0o600 })
    return file
  } catch {
    return undefined // the failure itself is reported; the details mostly fail for the same reason
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
