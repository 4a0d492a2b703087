/**
 * A git repository as the routes read it: on disk, or in memory where nothing may wait. Nothing is ever written through
 * this interface.
 */

export interface Git {
  /** The repository's location; another open of the same location is the same repository. */
  readonly gitDirectory: string
  /** The object, or null if absent; `bytes` is null for an object of more than `bytesMax` bytes. */
  object(sha: string, bytesMax: number): Promise<GitObject | null>
  /** The commit of a branch, a tag, `HEAD`, a full SHA or a prefix of a SHA, or null. */
  resolveCommit(ref: string): Promise<string | null>
  /** The best common ancestor, or null for unrelated histories. */
  mergeBase(one: string, other: string): Promise<string | null>
  /** The number of commits that only `base` has, and the number that only `head` has. */
  divergence(base: string, head: string): Promise<{ behind: number; ahead: number }>
  /** The commits that `head` has and `base` doesn't, oldest first; at most the newest `countMax`. */
  commits(base: string, head: string, countMax: number): Promise<Commit[]>
  /** The commit of a full SHA, or null. */
  commit(sha: string): Promise<Commit | null>
  /** The entry at `path` in a commit or tree, or null. An empty path is the root. */
  entry(treeish: string, path: string): Promise<TreeEntry | null>
  /** A tree's own entries; the reader may stop at any entry. */
  tree(treeSha: string): AsyncIterable<TreeEntry>
  /** All changes from `base`, a commit or a tree, to `head`. */
  changes(base: string, head: string): Promise<ChangeList>
  /**
   * The patches of some of those changes. A change has no patch if the file is binary, no line changes, or the patch is
   * larger than GitHub shows.
   */
  patches(base: string, head: string, changes: readonly Change[]): Promise<Map<Change, string>>
  close(): void
}

/** Opens the repository at `gitDirectory`. Rejects with `not_a_git_repository`. */
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
  /** Null for an object larger than the reader asked for. */
  bytes: Buffer | null
}

export interface Change {
  status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed'
  path: string
  /** The earlier path of a renamed file. */
  previousPath: string | null
  /** Blobs before and after; all zeros for an absent blob. */
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
