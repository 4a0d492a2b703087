/** Git's objects in memory, under the same ids as in git. */
import { createHash } from 'node:crypto'
import type { Commit, GitObject, Signature } from '../../../../infra/local/github/git/git.ts'

export interface Child {
  readonly name: string
  readonly type: 'blob' | 'tree'
  readonly sha: string
}

export type Files = ReadonlyMap<string, string>

const MODES = { blob: '100644', tree: '40000' } as const

export class GitObjects {
  readonly #objects = new Map<string, Required<GitObject> & { bytes: Buffer }>()
  readonly #children = new Map<string, readonly Child[]>()
  readonly #files = new Map<string, Files>()

  constructor() {
    this.#putTree([]) // git knows the empty tree without storing it
  }

  get(sha: string) {
    return this.#objects.get(sha)
  }

  /** The entries of a tree, in git's order; undefined if the tree is unknown. */
  childrenOf(treeSha: string): readonly Child[] | undefined {
    return this.#children.get(treeSha)
  }

  /** The blobs below a tree, by path, in git's order. */
  filesOf(treeSha: string): Files {
    const known = this.#files.get(treeSha)
    if (known !== undefined) return known
    const files = new Map<string, string>()
    for (const { name, type, sha } of this.#children.get(treeSha) ?? []) {
      if (type === 'blob') files.set(name, sha)
      else for (const [path, blob] of this.filesOf(sha)) files.set(`${name}/${path}`, blob)
    }
    this.#files.set(treeSha, files)
    return files
  }

  putBlob(text: string): string {
    return this.#put('blob', Buffer.from(text))
  }

  /** Stores the tree of these blobs, given by path, and its subtrees. */
  putFiles(blobs: Files): string {
    const children: Child[] = []
    const folders = new Map<string, Map<string, string>>()
    for (const [path, sha] of blobs) {
      const slash = path.indexOf('/')
      if (slash === -1) {
        children.push({ name: path, type: 'blob', sha })
        continue
      }
      const folder = folders.get(path.slice(0, slash)) ?? new Map<string, string>()
      folders.set(path.slice(0, slash), folder.set(path.slice(slash + 1), sha))
    }
    for (const [name, inside] of folders) children.push({ name, type: 'tree', sha: this.putFiles(inside) })
    return this.#putTree(children)
  }

  /** `zone` in git's form, e.g. `+0200`. */
  putCommit(commit: Omit<Commit, 'sha'>, atSeconds: number, zone: string): string {
    const by = ({ name, email }: Signature) => `${name} <${email}> ${atSeconds} ${zone}`
    const lines = [
      `tree ${commit.treeSha}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${by(commit.author)}`,
      `committer ${by(commit.committer)}`,
    ]
    return this.#put('commit', Buffer.from(`${lines.join('\n')}\n\n${commit.message}`))
  }

  #putTree(children: readonly Child[]): string {
    // Git sorts a folder as if its name ended with a slash.
    const key = ({ name, type }: Child) => Buffer.from(type === 'tree' ? `${name}/` : name)
    const sorted = children.toSorted((one, other) => Buffer.compare(key(one), key(other)))
    const parts = sorted.flatMap(({ name, type, sha }) => [
      Buffer.from(`${MODES[type]} ${name}\0`),
      Buffer.from(sha, 'hex'),
    ])
    const sha = this.#put('tree', Buffer.concat(parts))
    this.#children.set(sha, sorted)
    return sha
  }

  #put(type: 'blob' | 'tree' | 'commit', bytes: Buffer): string {
    const sha = createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
    this.#objects.set(sha, { sha, type, size: bytes.length, bytes })
    return sha
  }
}
