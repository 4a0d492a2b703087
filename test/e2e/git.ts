/** Tiny git repositories, each written in a single stream: commits anywhere in the history, any path, any bytes. */
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'

/** Contents by path; null deletes, `from` moves a file without a change. */
export type Files = Readonly<Record<string, string | Uint8Array | null | { readonly from: string }>>

export interface GitRepository {
  /** A bare repository. */
  readonly directory: string
  /**
   * Commits `files` upon `parent` (absent: a root commit) and resolves with the SHA. The same input has the same SHA.
   */
  commit(files: Files, parent?: string): Promise<string>
}

/** Seconds since 1970 of every commit: the same files get the same SHA. */
const COMMITTED_AT_S = 1_790_000_000

/** Makes an empty repository in `directory`. */
export async function makeGitRepository(directory: string): Promise<GitRepository> {
  await mkdir(directory, { recursive: true })
  await git(directory, ['init', '--quiet', '--bare', '--initial-branch=main', '--object-format=sha1', '--template='])
  return {
    directory,
    async commit(files, parent) {
      const answer = await git(directory, ['fast-import', '--quiet', '--force'], streamOf(files, parent))
      return answer.trim()
    },
  }
}

/** Git's format for a history: one commit, and the request for its SHA. */
function streamOf(files: Files, parent: string | undefined): Buffer {
  const parts: Buffer[] = []
  const add = (content: string | Uint8Array) => parts.push(Buffer.from(content as string))
  const signature = `Ada <ada@example.com> ${COMMITTED_AT_S} +0000`
  add(`commit refs/heads/made\nmark :1\nauthor ${signature}\ncommitter ${signature}\ndata 6\nchange\n`)
  // A root commit begins a history of its own, whatever the branch holds.
  add(parent === undefined ? 'deleteall\n' : `from ${parent}\n`)
  for (const [path, content] of Object.entries(files)) {
    if (content === null) {
      add(`D ${quoted(path)}\n`)
    } else if (typeof content === 'object' && 'from' in content) {
      add(`R ${quoted(content.from)} ${quoted(path)}\n`)
    } else {
      const bytes = Buffer.from(content as string)
      add(`M 100644 inline ${quoted(path)}\ndata ${bytes.length}\n`)
      add(bytes)
      add('\n')
    }
  }
  add('\nget-mark :1\ndone\n')
  return Buffer.concat(parts)
}

function quoted(path: string): string {
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}

function git(directory: string, command: readonly string[], input?: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', command, {
      cwd: directory,
      env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`git ${command[0]} ended with ${code}: ${complaint}`))
    })
    child.stdin.on('error', reject)
    child.stdin.end(input)
  })
}
