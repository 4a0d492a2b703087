/** The git repository of a round: a base, and for each pull request its heads, one upon the other. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { type Random, randomOf } from './random.ts'
import type { HeadContent, Scenario } from './scenario.ts'

export interface RoundRepository {
  readonly gitDirectory: string
  readonly base: string
  /** By pull request, in the order of the pushes. */
  readonly heads: readonly (readonly string[])[]
}

/** Seconds since 1970 of every commit: the SHAs follow from the seed alone. */
const COMMIT_AT_SECONDS = Date.UTC(2026, 8, 14) / 1_000
const GIT_MS_MAX = 30_000

const BASE_FILES = {
  'src/parcels.js': 'export const parcels = new Map()\n',
  '.github/pull_request_template.md': '## How it was tested\n',
  // Without a model no lens reads for correctness, and every verdict would be incomplete.
  '.github/muster.yml': 'lenses:\n  correctness: off\n',
}

/** Makes the repository in `directory`; an existing repository is the same. Rejects if git fails. */
export async function makeRepository(directory: string, scenario: Scenario): Promise<RoundRepository> {
  mkdirSync(directory, { recursive: true })
  await git(directory, ['init', '--quiet', '--bare', '--initial-branch=main', '--object-format=sha1', '--template='])
  await git(directory, ['fast-import', '--quiet', '--force', '--date-format=raw'], historyOf(scenario))
  const resolve = async (ref: string) => (await git(directory, ['rev-parse', '--verify', ref])).trim()
  const heads: string[][] = []
  for (const { branch, heads: contents } of scenario.pullRequests) {
    heads.push(await Promise.all(contents.map((_, index) => resolve(refOf(branch, index)))))
  }
  return { gitDirectory: directory, base: await resolve('refs/heads/main'), heads }
}

function refOf(branch: string, head: number): string {
  return `refs/heads/${branch}/${head}`
}

/** In git's own format for a whole history. */
function historyOf(scenario: Scenario): string {
  const random = randomOf(scenario.seed)
  const parts = [commit('refs/heads/main', 'Base', undefined, BASE_FILES)]
  for (const { branch, heads } of scenario.pullRequests) {
    for (const [index, content] of heads.entries()) {
      const from = index === 0 ? 'refs/heads/main' : refOf(branch, index - 1)
      parts.push(commit(refOf(branch, index), `${branch}: ${content}`, from, filesOf(branch, index, content, random)))
    }
  }
  return `${parts.join('')}done\n`
}

function commit(ref: string, message: string, from: string | undefined, files: Readonly<Record<string, string>>) {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const who = `Jun <jun@example.com> ${COMMIT_AT_SECONDS} +0000`
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)
  return `commit ${ref}\ncommitter ${who}\n${data(message)}${from === undefined ? '' : `from ${from}\n`}${changes.join('')}\n`
}

function filesOf(branch: string, head: number, content: HeadContent, random: Random): Record<string, string> {
  const path = `src/${branch}-${head}.js`
  switch (content) {
    case 'secret':
      return { [path]: `const key = '${accessKeyId(random)}'\nexport const use = () => key\n` }
    case 'many_secrets': {
      const keys = Array.from({ length: random.between(5, 12) }, () => `  '${accessKeyId(random)}',\n`)
      return { [path]: `export const keys = [\n${keys.join('')}]\n` }
    }
    case 'broken_workflow':
      return {
        [`.github/workflows/${branch}-${head}.yml`]:
          'on: push\njobs:\n  greet:\n    needs: tests\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo hello\n',
      }
    case 'clean':
      return { [path]: `export const number = ${random.between(1, 1_000)}\n` }
  }
}

/** Looks like a key and is none; assembled here, so that no scanner finds a key in these sources. */
function accessKeyId(random: Random): string {
  return `AKIA${random.text('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`
}

function git(directory: string, command: readonly string[], input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // The machine's configuration changes nothing here.
    const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
    const child = spawn('git', command, { cwd: directory, env, timeout: GIT_MS_MAX })
    let said = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(said)
      else reject(new Error(`git ${command[0]} failed in ${directory}: ${complaint.trim()}`))
    })
    child.stdin.on('error', reject)
    child.stdin.end(input)
  })
}
