/** Reads a local git repository for the command line. Nothing is ever written into the repository. */
import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { runGit } from '../infra/local/github/git/process.ts'
import { GitRepository } from '../infra/local/github/git/repository.ts'
import { sha256 } from '../shared/base/digest.ts'
import { CommandFailure } from './errors.ts'

export interface Branch {
  /** The given name; for `HEAD` on a branch, the branch. */
  readonly ref: string
  readonly sha: string
}

export interface LocalChange {
  readonly gitDirectory: string
  readonly repository: { readonly owner: string; readonly name: string }
  readonly base: Branch
  readonly head: Branch
  /** Of the head's commit. */
  readonly subject: string
  /** Null if the commit's message has a subject alone. */
  readonly body: string | null
  readonly author: string
}

/** Local repositories have no owner, but GitHub's repositories do. */
const OWNER = 'local'
/** Digits of the digest that tells repositories of the same name apart. */
const NAME_DIGEST_LENGTH = 8
/** Together with the digest far below GitHub's 100 characters. */
const NAME_LENGTH_MAX = 60
/** GitHub: "Username may only contain alphanumeric characters or single hyphens", at most 39. */
const LOGIN_LENGTH_MAX = 39
/** An answer is a single name or SHA. */
const ANSWER_BYTES_MAX = 64 * 1024

/**
 * Reads the two ends of a change. `directory` may be a clone, a folder inside a clone, a bare repository or a worktree.
 * Throws `not_a_git_repository`, `ref_unknown`, `no_common_history`, `git_not_found`.
 */
export async function readChange(directory: string, baseRef: string, headRef: string): Promise<LocalChange> {
  const git = await GitRepository.open(rootOf(directory))
  try {
    const { gitDirectory } = git
    const base = await branchOf(gitDirectory, 'base', baseRef)
    const head = await branchOf(gitDirectory, 'head', headRef)
    if ((await git.mergeBase(base.sha, head.sha)) === null) {
      throw new CommandFailure(
        'no_common_history',
        `${baseRef} and ${headRef} have no commit in common here.`,
        'Name another base, or fetch the missing history (git fetch --unshallow).',
        'usage',
      )
    }
    const commit = await git.commit(head.sha)
    if (!commit) throw new Error(`The commit ${head.sha} was resolved and can't be read.`)
    const [subject = '', ...rest] = commit.message.split('\n')
    return {
      gitDirectory,
      repository: { owner: OWNER, name: repositoryName(gitDirectory) },
      base,
      head,
      subject: subject.trim() || `Changes at ${head.sha.slice(0, 7)}`,
      body: rest.join('\n').trim() || null,
      author: loginOf(commit.author.name),
    }
  } finally {
    git.close()
  }
}

/**
 * The name of a repository: different for two repositories of one folder name, and the same for every path to one
 * repository.
 */
export function repositoryName(gitDirectory: string): string {
  const folder = path.basename(gitDirectory) === '.git' ? path.dirname(gitDirectory) : gitDirectory
  const readable = path
    .basename(folder)
    .replace(/\.git$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, NAME_LENGTH_MAX)
  return `${readable || 'repository'}-${sha256(gitDirectory).slice(0, NAME_DIGEST_LENGTH)}`
}

/**
 * The nearest folder at or above `directory` with a repository; without any, `directory` itself, for a refusal by name.
 */
function rootOf(directory: string): string {
  const start = existsSync(directory) ? realpathSync(directory) : path.resolve(directory)
  for (let folder = start; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, '.git')) || isBare(folder)) return folder
    if (folder === path.dirname(folder)) return start
  }
}

function isBare(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(path.join(folder, name)))
}

async function branchOf(gitDirectory: string, end: 'base' | 'head', ref: string): Promise<Branch> {
  const sha = ref.startsWith('-')
    ? ''
    : await ask(gitDirectory, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`])
  if (sha === '') {
    throw new CommandFailure(
      'ref_unknown',
      `--${end} ${ref} is no commit in ${gitDirectory}.`,
      'Name a branch, a tag or a SHA of the repository (git branch --all lists branches), or fetch the commit first.',
      'usage',
    )
  }
  if (ref !== 'HEAD') return { ref, sha }
  const branch = await ask(gitDirectory, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
  return { ref: branch || ref, sha }
}

/** The output of git, without the line end; empty where git's exit code says no. */
async function ask(gitDirectory: string, command: readonly string[]): Promise<string> {
  try {
    return (await runGit(gitDirectory, command, ANSWER_BYTES_MAX)).toString('utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'exitCode' in error && error.exitCode !== null) return ''
    throw error
  }
}

function loginOf(name: string): string {
  const login = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, LOGIN_LENGTH_MAX)
    .replace(/^-+|-+$/g, '')
  return login || 'author'
}
