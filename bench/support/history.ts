/** Makes git repositories of any size in one stream: the same input gives the same SHAs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The new state of a path: content; null for a deleted file; `from` for a moved file, with or without new content. */
export type FileChange = string | Uint8Array | null | { readonly from: string; readonly content: string }

export interface Commit {
  /** The branch of the commit. */
  readonly branch: string
  readonly message: string
  /** Positions in the list of commits; the commit begins with the first parent's files. None: a root commit. */
  readonly parents: readonly number[]
  /** Read once, while the stream is written: a large commit needs no space in memory. */
  readonly files: Iterable<readonly [path: string, change: FileChange]>
}

/** Seconds since 1970 of every commit. */
const COMMITTED_AT_S = 1_790_000_000
/** 20,000 files take two seconds on two cores, ms. */
const IMPORT_MS_MAX = 60_000

/** Makes a bare repository in `directory`; resolves with the commits' SHAs. Rejects with git's own error text. */
export async function makeRepository(directory: string, commits: readonly Commit[]): Promise<string[]> {
  await mkdir(directory, { recursive: true })
  await git(
    directory,
    ['init', '--quiet', '--bare', '--initial-branch=main', '--object-format=sha1', '--template='],
    [],
  )
  const shas = await git(directory, ['fast-import', '--quiet', '--force'], streamOf(commits))
  return shas.trim().split('\n')
}

/** https://git-scm.com/docs/git-fast-import; marks are positions from 1 on. */
function* streamOf(commits: readonly Commit[]): Generator<string | Uint8Array> {
  for (const [index, { branch, message, parents, files }] of commits.entries()) {
    const committer = `Ada <ada@example.com> ${COMMITTED_AT_S + index} +0000`
    yield `commit refs/heads/${branch}\nmark :${index + 1}\ncommitter ${committer}\n`
    yield* data(message)
    const [first, ...merged] = parents
    yield first === undefined ? 'deleteall\n' : `from :${first + 1}\n`
    for (const parent of merged) yield `merge :${parent + 1}\n`
    for (const [path, change] of files) yield* fileChange(path, change)
  }
  for (const index of commits.keys()) yield `get-mark :${index + 1}\n`
  yield 'done\n'
}

function* fileChange(path: string, change: FileChange): Generator<string | Uint8Array> {
  if (change === null) {
    yield `D ${quoted(path)}\n`
  } else if (typeof change === 'object' && 'from' in change) {
    yield `R ${quoted(change.from)} ${quoted(path)}\n`
    yield* fileChange(path, change.content)
  } else {
    yield `M 100644 inline ${quoted(path)}\n`
    yield* data(change)
  }
}

function* data(content: string | Uint8Array): Generator<string | Uint8Array> {
  yield `data ${Buffer.byteLength(content as string)}\n`
  yield content
  yield '\n'
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

async function git(
  directory: string,
  command: readonly string[],
  input: Iterable<string | Uint8Array>,
): Promise<string> {
  const child = spawn('git', command, {
    cwd: directory,
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: IMPORT_MS_MAX,
  })
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const closed = once(child, 'close')
  // If git ends early, git's own error text gives the reason; the broken pipe doesn't.
  await pipeline(Readable.from(input), child.stdin).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  const [exitCode] = (await closed) as [number | null]
  if (exitCode !== 0) throw new Error(`git ${command[0]} ended with ${exitCode}: ${complaint.trim()}`)
  return output
}
