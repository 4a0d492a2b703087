/** Runs `git` over a repository that belongs to somebody else: only reading, with deadlines, with none of their configuration. */
import { spawn } from 'node:child_process'

/** One git command may take this long, in ms: 3,500 files with 28 million changed lines took 55 s on two busy cores. */
export const GIT_DEADLINE_MS = 120_000

/** So many commands run at once on this machine: more would only take each other's processor and memory. */
export const COMMANDS_MAX = 8

let commandsRunning = 0
const commandsWaiting: (() => void)[] = []

/** So much of what git complains about is kept for the error, in bytes. */
const COMPLAINT_BYTES_MAX = 4_096

export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  /** Git's exit status; null if it was ended by a signal or could not be started. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/**
 * The arguments before every command. The directory is named outright, so that git neither searches for one nor asks
 * who owns it; attributes, hooks and helpers of the machine or of the repository's owner play no part.
 */
export function gitArguments(gitDirectory: string, command: readonly string[]): string[] {
  const settings = [
    'core.quotepath=off',
    'core.attributesFile=/dev/null',
    'core.fsmonitor=false',
    'diff.renameLimit=1000',
  ]
  return [
    `--git-dir=${gitDirectory}`,
    '--literal-pathspecs',
    ...settings.flatMap((setting) => ['-c', setting]),
    ...command,
  ]
}

/** Nothing of the caller's `GIT_*` variables reaches git: they could point it at another repository. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0', // git would refresh its index otherwise, which is writing
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1', // a partial clone must not start to download
    GIT_TERMINAL_PROMPT: '0',
  }
}

/**
 * Streams what a git command prints. Whoever stops reading early ends the process.
 * Throws `GitFailure` when git fails or misses its deadline, after what it had printed. Waits while many commands run
 * already, so nobody may start another one while reading from this: eight of them would wait for each other.
 */
export async function* streamGit(
  gitDirectory: string,
  command: readonly string[],
  deadlineMs = GIT_DEADLINE_MS,
): AsyncGenerator<Buffer> {
  if (commandsRunning < COMMANDS_MAX) commandsRunning += 1
  else await new Promise<void>((resolve) => commandsWaiting.push(resolve))
  try {
    yield* readCommand(gitDirectory, command, deadlineMs)
  } finally {
    const next = commandsWaiting.shift()
    if (next === undefined) commandsRunning -= 1
    else next() // gets this one's place
  }
}

async function* readCommand(
  gitDirectory: string,
  command: readonly string[],
  deadlineMs: number,
): AsyncGenerator<Buffer> {
  const child = spawn('git', gitArguments(gitDirectory, command), {
    env: gitEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < COMPLAINT_BYTES_MAX) complaint += text
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new GitFailure(startFailure(error), null, { cause: error })))
    child.once('close', resolve)
  })
  ended.catch(() => undefined) // it is awaited below, unless the reader leaves before
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer
    const exitCode = await ended
    if (exitCode !== 0) {
      const reason = exitCode === null ? `was ended, at the latest after ${deadlineMs} ms` : complaint.trim()
      throw new GitFailure(`git ${command[0]} failed: ${reason}`, exitCode)
    }
  } finally {
    child.kill('SIGKILL')
  }
}

/** Everything a git command prints. `bytesMax` bounds what is held in memory; more than that is a `GitFailure`. */
export async function runGit(gitDirectory: string, command: readonly string[], bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of streamGit(gitDirectory, command)) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new GitFailure(`git ${command[0]} printed more than ${bytesMax} bytes`, null)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The NUL-terminated fields of a `-z` output, as text, one at a time. */
export async function* fieldsOf(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of output) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let end = bytes.indexOf(0, from); end !== -1; end = bytes.indexOf(0, from)) {
      yield bytes.toString('utf8', from, end)
      from = end + 1
    }
    rest = Buffer.from(bytes.subarray(from))
  }
  if (rest.length > 0) yield rest.toString('utf8')
}

function startFailure(error: Error): string {
  return 'code' in error && error.code === 'ENOENT'
    ? 'git_not_found: git could not be started. Install git, or add it to PATH.'
    : `git could not be started: ${error.message}`
}
