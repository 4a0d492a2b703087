/**
 * Reads single git objects through one long-lived `git cat-file --batch`, so that a blob costs no process of its own.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { GitObject } from './git.ts'
import { GitFailure, gitArguments, gitEnvironment } from './process.ts'

interface Waiting {
  bytesMax: number
  resolve(object: GitObject | null): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}

/** The time limit for one object, in ms. */
const OBJECT_DEADLINE_MS = 30_000

const LINE_FEED = 0x0a

/** The reader starts its process at the first read, and again after a failure. */
export class ObjectReader {
  readonly #gitDirectory: string
  #process: BatchProcess | undefined

  constructor(gitDirectory: string) {
    this.#gitDirectory = gitDirectory
  }

  /** The object of `name` (a SHA, a full ref, optionally with `^{type}`), or null if absent. */
  read(name: string, bytesMax: number): Promise<GitObject | null> {
    if (/[\n\0]/.test(name)) return Promise.resolve(null)
    if (this.#process === undefined || this.#process.ended) this.#process = new BatchProcess(this.#gitDirectory)
    return this.#process.read(name, bytesMax)
  }

  close(): void {
    this.#process?.end('the reader was closed')
    this.#process = undefined
  }
}

/** The process answers in the order of the requests; a missed deadline ends the process and all waiting reads. */
class BatchProcess {
  ended = false
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiting: Waiting[] = []
  /** Bytes of an incomplete header. */
  #header: Buffer[] = []
  /** The object whose bytes are arriving; `missing` counts the bytes down, the final line feed included. */
  #arriving: { object: GitObject; missing: number; chunks: Buffer[] } | undefined

  constructor(gitDirectory: string) {
    this.#child = spawn('git', gitArguments(gitDirectory, ['cat-file', '--batch']), {
      env: gitEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stderr.resume()
    this.#child.stdin.on('error', (error) => this.end(error.message)) // EPIPE: git has died
    this.#child.stdout.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#child.once('error', (error) => this.end(error.message))
    this.#child.once('close', () => this.end('git cat-file ended'))
  }

  read(name: string, bytesMax: number): Promise<GitObject | null> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end(`no answer within ${OBJECT_DEADLINE_MS} ms`), OBJECT_DEADLINE_MS)
      this.#waiting.push({ bytesMax, resolve, reject, timer })
      this.#child.stdin.write(`${name}\n`)
    })
  }

  end(reason: string): void {
    if (this.ended) return
    this.ended = true
    this.#child.kill('SIGKILL')
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer)
      reject(new GitFailure(`git cat-file failed: ${reason}`, null))
    }
  }

  #take(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) rest = this.#arriving === undefined ? this.#takeHeader(rest) : this.#takeContent(rest)
  }

  #takeHeader(chunk: Buffer): Buffer {
    const end = chunk.indexOf(LINE_FEED)
    if (end === -1) {
      this.#header.push(chunk)
      return chunk.subarray(chunk.length)
    }
    const line = Buffer.concat([...this.#header, chunk.subarray(0, end)]).toString('utf8')
    this.#header = []
    const [, sha, type, size] = /^([0-9a-f]+) (blob|tree|commit|tag) (\d+)$/.exec(line) ?? []
    if (sha === undefined) {
      this.#answer(null) // "… missing", "… ambiguous"
    } else {
      const object: GitObject = { sha, type: type as GitObject['type'], size: Number(size), bytes: null }
      this.#arriving = { object, missing: object.size + 1, chunks: [] }
    }
    return chunk.subarray(end + 1)
  }

  #takeContent(chunk: Buffer): Buffer {
    const arriving = this.#arriving
    if (arriving === undefined) return chunk
    const part = chunk.subarray(0, arriving.missing)
    const wanted = arriving.object.size <= (this.#waiting[0]?.bytesMax ?? 0)
    if (wanted) arriving.chunks.push(part)
    arriving.missing -= part.length
    if (arriving.missing === 0) {
      this.#arriving = undefined
      if (wanted) arriving.object.bytes = Buffer.concat(arriving.chunks).subarray(0, arriving.object.size)
      this.#answer(arriving.object)
    }
    return chunk.subarray(part.length)
  }

  #answer(object: GitObject | null): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return
    clearTimeout(waiting.timer)
    waiting.resolve(object)
  }
}
