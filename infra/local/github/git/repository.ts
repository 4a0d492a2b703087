/**
 * A git repository on disk as GitHub's API sees one: refs, commits, trees, blobs. Nothing is ever written into the
 * repository.
 */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { listChanges, readPatches } from './diff.ts'
import type { Change, ChangeList, Commit, Git, GitObject, TreeEntry } from './git.ts'
import { ObjectReader } from './objects.ts'
import { fieldsOf, GitFailure, runGit, streamGit } from './process.ts'

/** Small answers: a SHA, two counts. */
const SMALL_OUTPUT_BYTES_MAX = 64 * 1_024

const COMMIT_FORMAT = ['%H', '%T', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI', '%B'].join('%x00')
const COMMIT_FIELDS = 10

/** The form of a ref: git's own rules, without its operators (`^`, `~`, `:`, `@{…}`, `..`). */
const REF_NAME = /^(?!-)(?!.*(?:\.\.|@\{))[^\p{Cc} ~^:?*[\\]+$/u

export class GitRepository implements Git {
  readonly gitDirectory: string
  readonly #objects: ObjectReader

  private constructor(gitDirectory: string) {
    this.gitDirectory = gitDirectory
    this.#objects = new ObjectReader(gitDirectory)
  }

  /** Opens a bare repository, a work tree, or a `.git` directory or file. Throws `not_a_git_repository`. */
  static async open(path: string): Promise<GitRepository> {
    const located = locate(resolve(path))
    try {
      if (located === null) throw new GitFailure(`there is no git repository at ${path}`, null)
      const answer = await runGit(located, ['rev-parse', '--absolute-git-dir'], SMALL_OUTPUT_BYTES_MAX)
      return new GitRepository(answer.toString('utf8').replace(/\n$/, ''))
    } catch (error) {
      throw new Error(
        `not_a_git_repository: ${path} can't be read as a git repository. Name a clone's folder, a bare repository or a .git directory.`,
        { cause: error },
      )
    }
  }

  object(sha: string, bytesMax: number): Promise<GitObject | null> {
    return this.#objects.read(sha, bytesMax)
  }

  async resolveCommit(ref: string): Promise<string | null> {
    if (!REF_NAME.test(ref)) return null
    const names = [`refs/heads/${ref}`, `refs/tags/${ref}`]
    if (ref === 'HEAD' || ref.startsWith('refs/')) names.unshift(ref)
    if (/^[0-9a-f]{7,64}$/.test(ref)) names.push(ref)
    for (const name of names) {
      const object = await this.#objects.read(`${name}^{commit}`, 0)
      if (object !== null) return object.sha
    }
    return null
  }

  async mergeBase(one: string, other: string): Promise<string | null> {
    try {
      return (await runGit(this.gitDirectory, ['merge-base', one, other], SMALL_OUTPUT_BYTES_MAX)).toString().trim()
    } catch (error) {
      if (error instanceof GitFailure && error.exitCode === 1) return null
      throw error
    }
  }

  async divergence(base: string, head: string): Promise<{ behind: number; ahead: number }> {
    const command = ['rev-list', '--left-right', '--count', `${base}...${head}`]
    const [behind, ahead] = (await runGit(this.gitDirectory, command, SMALL_OUTPUT_BYTES_MAX)).toString().split('\t')
    return { behind: Number(behind), ahead: Number(ahead) }
  }

  async commits(base: string, head: string, countMax: number): Promise<Commit[]> {
    return (await this.#log([`--max-count=${countMax}`, '--topo-order', `${base}..${head}`])).reverse()
  }

  async commit(sha: string): Promise<Commit | null> {
    if ((await this.#objects.read(sha, 0))?.type !== 'commit') return null
    return (await this.#log(['--max-count=1', sha]))[0] ?? null
  }

  async entry(treeish: string, path: string): Promise<TreeEntry | null> {
    if (path === '') {
      const root = await this.#objects.read(`${treeish}^{tree}`, 0)
      return root === null ? null : { path, mode: '040000', type: 'tree', sha: root.sha, size: null }
    }
    for await (const entry of this.#listTree(['--', path], treeish)) {
      if (entry.path === path) return entry
    }
    return null
  }

  tree(treeSha: string): AsyncGenerator<TreeEntry> {
    return this.#listTree([], treeSha)
  }

  changes(base: string, head: string): Promise<ChangeList> {
    return listChanges(this.gitDirectory, base, head)
  }

  patches(base: string, head: string, changes: readonly Change[]): Promise<Map<Change, string>> {
    return readPatches(this.gitDirectory, base, head, changes)
  }

  close(): void {
    this.#objects.close()
  }

  async *#listTree(paths: string[], treeish: string): AsyncGenerator<TreeEntry> {
    const command = ['ls-tree', '-z', '-l', '--full-tree', treeish, ...paths]
    for await (const field of fieldsOf(streamGit(this.gitDirectory, command))) {
      const tab = field.indexOf('\t')
      const [mode = '', type = '', sha = '', size = ''] = field.slice(0, tab).split(/ +/)
      yield {
        path: field.slice(tab + 1),
        mode,
        type: type as TreeEntry['type'],
        sha,
        size: size === '-' ? null : Number(size),
      }
    }
  }

  async #log(selection: string[]): Promise<Commit[]> {
    const command = ['log', '-z', '--no-show-signature', '--no-color', '--encoding=UTF-8', `--format=${COMMIT_FORMAT}`]
    const commits: Commit[] = []
    let fields: string[] = []
    for await (const field of fieldsOf(streamGit(this.gitDirectory, [...command, ...selection]))) {
      fields.push(field)
      if (fields.length < COMMIT_FIELDS) continue
      commits.push(commitOf(fields))
      fields = []
    }
    return commits
  }
}

/**
 * The directory (or `.git` file) for git; null for a path without a repository. Git's own search upwards is not wanted.
 */
function locate(path: string): string | null {
  if (!existsSync(path)) return null
  if (statSync(path).isFile()) return path
  const inside = join(path, '.git')
  if (existsSync(inside)) return inside
  return existsSync(join(path, 'HEAD')) ? path : null
}

function commitOf(fields: string[]): Commit {
  const [sha = '', treeSha = '', parents = '', authorName = '', authorEmail = '', authorDate = '', ...others] = fields
  const [committerName = '', committerEmail = '', committerDate = '', message = ''] = others
  return {
    sha,
    treeSha,
    parents: parents === '' ? [] : parents.split(' '),
    author: { name: authorName, email: authorEmail, date: authorDate },
    committer: { name: committerName, email: committerEmail, date: committerDate },
    message: message.replace(/\n+$/, ''),
  }
}
