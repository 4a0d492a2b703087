/** A git repository as the routes read it: on disk, or, where nothing may wait, in memory. Nothing is ever written through it. */

export interface Git {
  /** Where it is. One that is opened by this name again is the same. */
  readonly gitDirectory: string
  /** The object, or null if there is none; its bytes are null if there are more than `bytesMax` of them. */
  object(sha: string, bytesMax: number): Promise<GitObject | null>
  /** The commit that a branch, a tag, `HEAD`, a full SHA or a prefix of one stands for, or null. */
  resolveCommit(ref: string): Promise<string | null>
  /** The best common ancestor, or null for unrelated histories. */
  mergeBase(one: string, other: string): Promise<string | null>
  /** How many commits only `base` has, and how many only `head` has. */
  divergence(base: string, head: string): Promise<{ behind: number; ahead: number }>
  /** The commits that `head` has and `base` doesn't, oldest first; at most the newest `countMax`. */
  commits(base: string, head: string, countMax: number): Promise<Commit[]>
  /** One commit by its full SHA, or null. */
  commit(sha: string): Promise<Commit | null>
  /** What stands at `path` in a commit or tree, or null. An empty path is the root. */
  entry(treeish: string, path: string): Promise<TreeEntry | null>
  /** A tree's own entries: stop reading when it is enough. */
  tree(treeSha: string): AsyncIterable<TreeEntry>
  /** Everything that turns `base`, a commit or a tree, into `head`. */
  changes(base: string, head: string): Promise<ChangeList>
  /** The patches of some of those changes. One that is binary, changes no line, or is larger than GitHub shows has none. */
  patches(base: string, head: string, changes: readonly Change[]): Promise<Map<Change, string>>
  close(): void
}

/** Opens what a repository's `gitDirectory` names. Rejects with `not_a_git_repository`. */
export type OpenGit = (gitDirectory: string) => Promise<Git>

export interface TreeEntry {
  path: string
  mode: string
  type: 'blob' | 'tree' | 'commit'
  sha: string
  /** Bytes; null for anything but a blob. */
  size: number | null
}

export interface Signature {
  name: string
  email: string
  /** ISO 8601 with the author's own offset from UTC. */
  date: string
}

export interface Commit {
  sha: string
  treeSha: string
  parents: string[]
  author: Signature
  committer: Signature
  message: string
}

export interface GitObject {
  sha: string
  type: 'blob' | 'tree' | 'commit' | 'tag'
  size: number
  /** Null if the object is larger than the reader asked for. */
  bytes: Buffer | null
}

export interface Change {
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed'
  path: string
  /** Where a renamed file was. */
  previousPath: string | null
  /** Blobs before and after; all zeros where there is none. */
  oldSha: string
  newSha: string
  additions: number
  deletions: number
}

export interface ChangeList {
  /** In git's order, by path; at most `LISTED_FILES_MAX`. */
  changes: Change[]
  /** Of all changed files, listed or not. */
  fileCount: number
  additions: number
  deletions: number
}

/** "A maximum of 3000 files": docs.github.com, REST, list pull requests files. */
export const LISTED_FILES_MAX = 3_000
