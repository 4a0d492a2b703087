/** Small git repositories of a user, made with git's own commands. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

export interface LocalRepository {
  readonly directory: string
  git(...command: string[]): string
  /** Writes the files and commits them on the branch that is checked out; the new SHA. */
  commit(message: string, files: Readonly<Record<string, string>>): string
}

export function makeRepository(directory: string): LocalRepository {
  mkdirSync(directory, { recursive: true })
  const git = (...command: string[]) =>
    execFileSync('git', command, {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada Lovelace')
  git('config', 'user.email', 'ada@example.com')
  return {
    directory,
    git,
    commit(message, files) {
      for (const [name, content] of Object.entries(files)) {
        const file = path.join(directory, name)
        mkdirSync(path.dirname(file), { recursive: true })
        writeFileSync(file, content)
      }
      git('add', '--all')
      git('commit', '--quiet', '--message', message)
      return git('rev-parse', 'HEAD')
    },
  }
}

/** A digest of every file below a folder: equal digests prove that nothing was written. */
export function digestOfFolder(directory: string): string {
  const hash = createHash('sha256')
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const file of entries.map((entry) => path.join(entry.parentPath, entry.name)).sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}
