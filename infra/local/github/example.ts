/**
 * Makes the example that `npm start` reviews: a small service in git, and a pull request with findings. Fixed authors
 * and fixed dates make the same bytes on every machine, so the SHAs are the same too.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ExampleCommit, exampleCommits } from './example-content.ts'
import { GitFailure, gitEnvironment } from './git/process.ts'
import { GitRepository } from './git/repository.ts'

export interface ExampleRepository {
  gitDirectory: string
  base: { ref: string; sha: string }
  head: { ref: string; sha: string }
  /** A later push to the head branch: the push removes the secrets, and leaves the workflow broken. */
  nextHead: { ref: string; sha: string }
  title: string
  body: string
}

const BASE = 'main'
const HEAD = 'archive-delivered-parcels'
/** Not a branch yet: the demonstration's push makes the branch. */
const NEXT_REF = `refs/example/next/${HEAD}`

/** The import takes well under a second; after this many ms git is ended. */
const GIT_DEADLINE_MS = 30_000

const TITLE = 'Archive parcels 90 days after delivery'

/** Lacks the section "How it was tested", which the base branch's template asks for. */
const BODY = `## Why

The parcels table has grown to 40 million rows, and nine of ten belong to parcels that were delivered long ago. Lookups
for parcels on their way have become slow.

## What changes

- \`src/archive.js\` moves parcels to the archive bucket 90 days after delivery.
- \`src/labels.js\` is now \`src/shipping-labels.js\`; the old label format is gone.
- CI runs the tests on two versions of Node.js and greets first-time contributors.
`

/**
 * Makes the repository in `directory` (created if absent), or finds the existing one; the SHAs are the same either way.
 * The head branch is checked out, so that people can look around. Throws `example_not_made` if git fails.
 */
export async function buildExampleRepository(directory: string): Promise<ExampleRepository> {
  try {
    return (await existing(directory)) ?? (await build(directory))
  } catch (error) {
    throw new Error(
      `example_not_made: the example repository could not be made in ${directory}. Delete that folder, or name an empty one, and try again.`,
      { cause: error },
    )
  }
}

async function existing(directory: string): Promise<ExampleRepository | null> {
  if (!existsSync(join(directory, '.git'))) return null
  const git = await GitRepository.open(directory)
  try {
    const refs = [`refs/heads/${BASE}`, `refs/heads/${HEAD}`, NEXT_REF]
    const [base, head, next] = await Promise.all(refs.map((ref) => git.resolveCommit(ref)))
    if (base == null || head == null || next == null) return null // an earlier import ended half-way: the repository is made again
    return {
      gitDirectory: git.gitDirectory,
      base: { ref: BASE, sha: base },
      head: { ref: HEAD, sha: head },
      nextHead: { ref: HEAD, sha: next },
      title: TITLE,
      body: BODY,
    }
  } finally {
    git.close()
  }
}

async function build(directory: string): Promise<ExampleRepository> {
  mkdirSync(directory, { recursive: true })
  await git(directory, ['init', '--quiet', `--initial-branch=${BASE}`, '--object-format=sha1', '--template='])
  const commits = exampleCommits({ base: `refs/heads/${BASE}`, head: `refs/heads/${HEAD}`, next: NEXT_REF })
  await git(directory, ['fast-import', '--quiet', '--force', '--date-format=raw'], importStream(commits))
  // The files in the folder equal git's, whatever line endings this machine prefers.
  await git(directory, ['-c', 'core.autocrlf=false', 'checkout', '--quiet', '--force', HEAD])
  const made = await existing(directory)
  if (made === null) throw new Error('git reported success, but the branches are not there')
  return made
}

/** Git's own format for a whole history in one import: each commit follows the commit before. */
function importStream(commits: readonly ExampleCommit[]): Buffer {
  const parts: Buffer[] = []
  const add = (text: string) => parts.push(Buffer.from(text))
  const data = (content: string | Buffer) => {
    const bytes = Buffer.from(content as string)
    parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'))
  }
  for (const [index, { ref, message, author, at, files }] of commits.entries()) {
    const signature = `${author.name} <${author.email}> ${at} +0000`
    add(`commit ${ref}\nmark :${index + 1}\nauthor ${signature}\ncommitter ${signature}\n`)
    data(message)
    if (index > 0) add(`from :${index}\n`)
    for (const [path, content] of Object.entries(files)) {
      if (content === null) {
        add(`D ${path}\n`)
      } else {
        add(`M 100644 inline ${path}\n`)
        data(content)
      }
    }
    add('\n')
  }
  add('done\n')
  return Buffer.concat(parts)
}

/** The only git command that writes: into a repository of the stand-in's own. */
function git(directory: string, command: readonly string[], input?: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', command, {
      cwd: directory,
      env: { ...gitEnvironment(), GIT_CEILING_DIRECTORIES: join(directory, '..') },
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: GIT_DEADLINE_MS,
    })
    let complaint = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    child.once('error', reject)
    child.once('close', (exitCode) => {
      if (exitCode === 0) resolve()
      else reject(new GitFailure(`git ${command[0]} failed: ${complaint.trim()}`, exitCode))
    })
    child.stdin.on('error', reject)
    child.stdin.end(input)
  })
}
