/**
 * A git repository in memory, with the interface of the local stand-in's repository on disk; every answer is settled at
 * once. The repository holds text files only, finds a rename only where nothing else changed, and expects small
 * histories.
 */
import type { Change, ChangeList, Commit, Git, GitObject, TreeEntry } from '../../../../infra/local/github/git/git.ts'
import { GitObjects } from './git-objects.ts'
import { diffOf, type TextDiff } from './line-diff.ts'

export interface NewCommit {
  /** Absent for a first commit. */
  readonly parent?: string
  /** Changes against the parent, by path; null deletes. */
  readonly files: Readonly<Record<string, string | null>>
  readonly message?: string
  /** ms UTC; git keeps whole seconds. */
  readonly at: number
  /** The branch to move to this commit. */
  readonly branch?: string
}

const AUTHOR = { name: 'Ana', email: 'ana@example.com' }
/** The offset of the author Ana's clock from UTC, hours. */
const ZONE_HOURS = 2
const ZONE = `0${ZONE_HOURS}`
const NO_BLOB = '0'.repeat(40)

/** Git accepts a SHA's prefix of at least 7 characters. */
const PREFIX = /^[0-9a-f]{7,40}$/

export class MemoryGit implements Git {
  readonly gitDirectory: string
  readonly #objects = new GitObjects()
  /** Parents come before their children. */
  readonly #commits = new Map<string, Commit>()
  readonly #branches = new Map<string, string>()
  readonly #diffs = new Map<string, TextDiff>()

  constructor(gitDirectory: string) {
    this.gitDirectory = gitDirectory
  }

  /**
   * Adds a commit and returns its SHA, equal to git's own for the same author, time and files. Throws `unknown_commit`
   * for an unknown parent.
   */
  add({ parent, files, message = 'change', at, branch }: NewCommit): string {
    const before = parent === undefined ? undefined : this.#commits.get(parent)
    if (parent !== undefined && before === undefined) throw new Error(`unknown_commit: ${parent} is no commit here.`)
    const blobs = new Map(before === undefined ? [] : this.#objects.filesOf(before.treeSha))
    for (const [path, text] of Object.entries(files)) {
      if (text === null) blobs.delete(path)
      else blobs.set(path, this.#objects.putBlob(text))
    }
    const seconds = Math.floor(at / 1_000)
    const there = new Date((seconds + ZONE_HOURS * 3_600) * 1_000).toISOString().slice(0, 19)
    const author = { ...AUTHOR, date: `${there}+${ZONE}:00` }
    const parents = parent === undefined ? [] : [parent]
    const commit = { treeSha: this.#objects.putFiles(blobs), parents, author, committer: author, message }
    const sha = this.#objects.putCommit(commit, seconds, `+${ZONE}00`)
    this.#commits.set(sha, { ...commit, sha })
    if (branch !== undefined) this.#branches.set(branch, sha)
    return sha
  }

  async object(sha: string, bytesMax: number): Promise<GitObject | null> {
    const found = this.#objects.get(sha)
    return found === undefined ? null : { ...found, bytes: found.size > bytesMax ? null : found.bytes }
  }

  async resolveCommit(ref: string): Promise<string | null> {
    const branch = this.#branches.get(ref.replace(/^refs\/heads\//, ''))
    if (branch !== undefined) return branch
    if (!PREFIX.test(ref)) return null
    if (this.#commits.has(ref)) return ref
    const named = [...this.#commits.keys()].filter((sha) => sha.startsWith(ref))
    return named.length === 1 ? (named[0] ?? null) : null
  }

  /** The youngest of the common ancestors. */
  async mergeBase(one: string, other: string): Promise<string | null> {
    const ofOther = this.#ancestors(other)
    return [...this.#ancestors(one)].findLast((sha) => ofOther.has(sha)) ?? null
  }

  async divergence(base: string, head: string): Promise<{ behind: number; ahead: number }> {
    return { behind: this.#onlyIn(base, head).length, ahead: this.#onlyIn(head, base).length }
  }

  async commits(base: string, head: string, countMax: number): Promise<Commit[]> {
    return this.#onlyIn(head, base).slice(-countMax)
  }

  async commit(sha: string): Promise<Commit | null> {
    return this.#commits.get(sha) ?? null
  }

  async entry(treeish: string, path: string): Promise<TreeEntry | null> {
    let found: TreeEntry = { path: '', ...this.#entryOf('tree', this.#treeOf(treeish)) }
    if (path === '') return this.#objects.childrenOf(found.sha) === undefined ? null : found
    for (const name of path.split('/')) {
      const child = this.#objects.childrenOf(found.sha)?.find((candidate) => candidate.name === name)
      if (child === undefined) return null
      found = { path, ...this.#entryOf(child.type, child.sha) }
    }
    return found
  }

  async *tree(treeSha: string): AsyncGenerator<TreeEntry> {
    for (const { name, type, sha } of this.#objects.childrenOf(treeSha) ?? []) {
      yield { path: name, ...this.#entryOf(type, sha) }
    }
  }

  async changes(base: string, head: string): Promise<ChangeList> {
    const changes = this.#changesOf(base, head)
    const sum = (of: 'additions' | 'deletions') => changes.reduce((total, change) => total + change[of], 0)
    return { changes, fileCount: changes.length, additions: sum('additions'), deletions: sum('deletions') }
  }

  async patches(_base: string, _head: string, changes: readonly Change[]): Promise<Map<Change, string>> {
    const found = new Map<Change, string>()
    for (const change of changes) {
      const { patch } = this.#diffOf(change.oldSha, change.newSha)
      if (patch !== null) found.set(change, patch)
    }
    return found
  }

  close(): void {}

  #treeOf(treeish: string): string {
    return this.#commits.get(treeish)?.treeSha ?? treeish
  }

  #entryOf(type: 'blob' | 'tree', sha: string): Omit<TreeEntry, 'path'> {
    return type === 'tree'
      ? { mode: '040000', type, sha, size: null }
      : { mode: '100644', type, sha, size: this.#objects.get(sha)?.size ?? 0 }
  }

  /** Includes the commit itself; parents come before children. */
  #ancestors(sha: string): Set<string> {
    const seen = new Set<string>()
    const next = [sha]
    for (let at = next.pop(); at !== undefined; at = next.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      next.push(...(this.#commits.get(at)?.parents ?? []))
    }
    return new Set([...this.#commits.keys()].filter((one) => seen.has(one)))
  }

  /** Commits in the history of `one` and not in the history of `other`, parents before children. */
  #onlyIn(one: string, other: string): Commit[] {
    const [ofOne, ofOther] = [this.#ancestors(one), this.#ancestors(other)]
    return [...this.#commits.values()].filter(({ sha }) => ofOne.has(sha) && !ofOther.has(sha))
  }

  #changesOf(base: string, head: string): Change[] {
    const [before, after] = [base, head].map((treeish) => this.#objects.filesOf(this.#treeOf(treeish))) as [
      ReadonlyMap<string, string>,
      ReadonlyMap<string, string>,
    ]
    const removed = [...before].filter(([path]) => !after.has(path))
    const changes: Change[] = []
    for (const [path, newSha] of after) {
      const oldSha = before.get(path)
      if (oldSha === newSha) continue
      const moved = oldSha === undefined ? removed.findIndex(([, sha]) => sha === newSha) : -1
      const [previous] = moved === -1 ? [] : removed.splice(moved, 1)
      if (previous !== undefined) {
        changes.push({ ...change('renamed', path, newSha, newSha), previousPath: previous[0] })
      } else {
        const status = oldSha === undefined ? 'added' : 'modified'
        changes.push(this.#counted(change(status, path, oldSha ?? NO_BLOB, newSha)))
      }
    }
    for (const [path, sha] of removed) changes.push(this.#counted(change('removed', path, sha, NO_BLOB)))
    return changes.sort((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)))
  }

  #counted(change: Change): Change {
    const { additions, deletions } = this.#diffOf(change.oldSha, change.newSha)
    return { ...change, additions, deletions }
  }

  /** Cached, as a patch depends on its two blobs alone. */
  #diffOf(oldSha: string, newSha: string): TextDiff {
    const key = `${oldSha}..${newSha}`
    const known = this.#diffs.get(key)
    if (known !== undefined) return known
    const text = (sha: string) => this.#objects.get(sha)?.bytes.toString('utf8') ?? ''
    const diff = diffOf(text(oldSha), text(newSha))
    this.#diffs.set(key, diff)
    return diff
  }
}

function change(status: Change['status'], path: string, oldSha: string, newSha: string): Change {
  return { status, path, previousPath: null, oldSha, newSha, additions: 0, deletions: 0 }
}
