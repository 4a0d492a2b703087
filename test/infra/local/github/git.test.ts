/** Over real repositories, the API shows exactly git's content. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMANDS_MAX, runGit, streamGit } from '../../../../infra/local/github/git/process.ts'
import {
  AT,
  clientOf,
  type Files,
  git,
  makeRepository,
  openPullRequest,
  refusalOf,
  startedGitHub,
  temporaryDirectory,
  withPullRequest,
} from './support.ts'

const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1])
/** Git compares at most the square of this number of files. */
const RENAME_LIMIT = 1_000

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')

const HISTORY = [
  {
    'kept.txt': LINES,
    'old name.txt': LINES.replaceAll('line', 'row'),
    'gone.txt': 'one\ntwo\n',
    'windows.txt': 'one\r\ntwo\r\n',
    'end.txt': 'first\nlast',
    'src/deep/file.js': 'export {}\n',
  },
  {
    'kept.txt': LINES.replace('line 15\n', 'line fifteen\n'),
    'old name.txt': null,
    'new name.txt': LINES.replaceAll('line', 'row').replace('row 2\n', 'row two\n'),
    'gone.txt': null,
    'windows.txt': 'one\r\n2\r\n',
    'end.txt': 'first\nlast line',
    '한국어/é "quoted"\tand tab.md': 'text\n',
    'picture.png': PICTURE,
    'empty.txt': '',
  },
]

async function filesOf(history: Files[] = HISTORY) {
  const { octokit, number } = await withPullRequest(makeRepository(...history))
  const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
    ...AT,
    pull_number: number,
  })
  return new Map(data.map((file) => [file.filename, file]))
}

describe('files of a pull request', () => {
  test('H13: paths are exact, with any characters', async () => {
    const files = await filesOf()
    expect(files.get('한국어/é "quoted"\tand tab.md')).toMatchObject({ status: 'added', patch: '@@ -0,0 +1 @@\n+text' })
  })

  test('H12: a renamed and edited file names both paths, and shows only its edit', async () => {
    const file = (await filesOf()).get('new name.txt')
    expect(file).toMatchObject({ status: 'renamed', previous_filename: 'old name.txt', additions: 1, deletions: 1 })
    expect(file?.patch).toBe('@@ -1,5 +1,5 @@\n row 1\n-row 2\n+row two\n row 3\n row 4\n row 5')
  })

  test('A7: a deleted file is removed, with its lines', async () => {
    const file = (await filesOf()).get('gone.txt')
    expect(file).toMatchObject({ status: 'removed', additions: 0, deletions: 2, patch: '@@ -1,2 +0,0 @@\n-one\n-two' })
  })

  test('H15: a missing line feed at the end stands in the patch', async () => {
    const patch = (await filesOf()).get('end.txt')?.patch
    const mark = '\\ No newline at end of file'
    expect(patch).toBe(`@@ -1,2 +1,2 @@\n first\n-last\n${mark}\n+last line\n${mark}`)
  })

  test('H11: a binary file has counts of zero and no patch', async () => {
    const file = (await filesOf()).get('picture.png')
    expect(file).toMatchObject({ status: 'added', additions: 0, deletions: 0, changes: 0 })
    expect(file).not.toHaveProperty('patch')
  })

  test('carriage returns stay in the patch', async () => {
    expect((await filesOf()).get('windows.txt')?.patch).toBe('@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r')
  })

  test('a name that git would take for a pattern or an option is a name', async () => {
    const names = [':!a.txt', ':(exclude)*', '*', '[ab].txt', '--help', '-z']
    const files = await filesOf([
      { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      { 'a.txt': 'b\n', ...Object.fromEntries(names.map((name) => [name, 'x\n'])) },
    ])
    expect(new Set(files.keys())).toEqual(new Set(['a.txt', ...names]))
    expect([...files.values()].every(({ patch }) => patch !== undefined)).toBe(true)
  })

  test('with too many files for a search of renames, each file is added or removed, with its patch', async () => {
    const before: Files = {}
    const after: Files = {}
    for (let index = 0; index <= RENAME_LIMIT; index += 1) {
      before[`${index}-before.txt`] = `${'same\n'.repeat(9)}${index}\n`
      after[`${index}-before.txt`] = null
      after[`${index}-now.txt`] = `${'same\n'.repeat(9)}${index} and more\n`
    }
    const files = [...(await filesOf([before, after])).values()]
    expect(new Set(files.map(({ status }) => status))).toEqual(new Set(['added', 'removed']))
    expect(files.every(({ patch }) => patch !== undefined)).toBe(true)
  })

  test('a file without content has no patch', async () => {
    expect((await filesOf()).get('empty.txt')).not.toHaveProperty('patch')
  })

  test('a patch beyond 500 KB or 20,000 lines is left out, and the others on the page stay', async () => {
    const files = await filesOf([
      { 'a.txt': 'a\n', 'z.txt': 'z\n' },
      { 'a.txt': 'b\n', 'long.txt': 'x'.repeat(600_000), 'many.txt': 'y\n'.repeat(20_001), 'z.txt': 'y\n' },
    ])
    expect([...files].map(([path, { patch }]) => [path, patch !== undefined])).toEqual([
      ['a.txt', true],
      ['long.txt', false],
      ['many.txt', false],
      ['z.txt', true],
    ])
    expect(files.get('many.txt')?.additions).toBe(20_001)
  })

  test('H2: 301 files come in pages of 100, linked, none missing and none twice', async () => {
    const changed = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`file-${index}.txt`, 'new\n']))
    const { octokit, number } = await withPullRequest(makeRepository({ 'a.txt': 'a\n' }, changed))
    const seen: string[] = []
    let url: string | undefined = `/repos/acme/widgets/pulls/${number}/files?per_page=100`
    let pages = 0
    while (url !== undefined) {
      const answer: { data: { filename: string; patch: string }[]; headers: { link?: string } } = await octokit.request(
        `GET ${url}`,
      )
      seen.push(...answer.data.map((file) => file.filename))
      expect(answer.data.every((file) => file.patch === '@@ -0,0 +1 @@\n+new')).toBe(true)
      url = /<([^>]+)>; rel="next"/.exec(answer.headers.link ?? '')?.[1]
      pages += 1
    }
    expect(pages).toBe(4)
    expect(new Set(seen)).toEqual(new Set(Object.keys(changed)))
    expect(seen).toHaveLength(301)
  })

  test('of 3,001 files the first 3,000 are listed, and the count covers all', async () => {
    const changed = Object.fromEntries(Array.from({ length: 3_001 }, (_, index) => [`file-${index}.txt`, 'new\n']))
    const { octokit, number } = await withPullRequest(makeRepository({ 'a.txt': 'a\n' }, changed))
    const at = { ...AT, pull_number: number }
    const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'
    const pageOf = async (page: number) => (await octokit.request(route, { ...at, per_page: 100, page })).data.length
    expect([await pageOf(30), await pageOf(31)]).toEqual([100, 0])
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at)
    expect(data.changed_files).toBe(3_001)
  })

  test('changes of the base branch since the branch point are not part of the list', async () => {
    const repository = makeRepository({ 'a.txt': 'a\n' }, { 'b.txt': 'b\n' })
    git(repository.directory, ['update-ref', 'refs/heads/other', repository.commits[0] ?? ''])
    const tree = git(repository.directory, ['mktree'], '').trim()
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b']
    const base = git(repository.directory, [
      ...identity,
      'commit-tree',
      tree,
      '-p',
      repository.commits[0] ?? '',
      '-m',
      'x',
    ])
    const { octokit, number } = await withPullRequest({
      ...repository,
      commits: [base.trim(), repository.commits[1] ?? ''],
    })
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
      ...AT,
      pull_number: number,
    })
    expect(data.map((file) => file.filename)).toEqual(['b.txt'])
  })
})

describe('contents and objects', () => {
  test('a file is base64 in lines, and an absent file is 404', async () => {
    const { octokit } = await withPullRequest(makeRepository(...HISTORY))
    const path = '한국어/é "quoted"\tand tab.md'
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...AT, path })
    expect(data).toMatchObject({ type: 'file', encoding: 'base64', content: 'dGV4dAo=\n', path, size: 5 })
    const missing = octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...AT, path: 'no.txt' })
    expect(await refusalOf(missing)).toMatchObject({ status: 404, message: 'Not Found' })
  })

  test('a file is read at the named ref, also at a branch that only a pull request names', async () => {
    const repository = makeRepository(...HISTORY)
    const { octokit } = await withPullRequest(repository)
    for (const [ref, size] of [
      [repository.commits[0] ?? '', LINES.length],
      ['feature', LINES.length + 5],
    ] as const) {
      const { data } = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', {
        ...AT,
        path: 'kept.txt',
        ref,
      })
      expect(data).toMatchObject({ size })
    }
  })

  test('a file over 1 MB has no content, but its blob does', async () => {
    const big = 'x'.repeat(1_100_000)
    const { octokit } = await withPullRequest(makeRepository({ 'a.txt': 'a\n' }, { 'big.txt': big }))
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...AT, path: 'big.txt' })
    expect(data).toMatchObject({ encoding: 'none', content: '', size: big.length })
    const { sha } = data as { sha: string }
    const blob = await octokit.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', { ...AT, file_sha: sha })
    expect(Buffer.from(blob.data.content, 'base64').toString()).toBe(big)
  })

  test('a folder lists its entries', async () => {
    const { octokit } = await withPullRequest(makeRepository(...HISTORY))
    const folder = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...AT, path: 'src' })
    expect(folder.data).toMatchObject([{ type: 'dir', name: 'deep', path: 'src/deep' }])
  })

  test('a comparison names the merge base and counts both sides', async () => {
    const repository = makeRepository(...HISTORY)
    const { octokit } = await withPullRequest(repository)
    const basehead = `${repository.commits[0]}...${repository.commits[1]}`
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...AT, basehead })
    expect(data).toMatchObject({
      status: 'ahead',
      ahead_by: 1,
      behind_by: 0,
      merge_base_commit: { sha: repository.commits[0] },
    })
  })

  test('commits keep message, author and the offset of their time', async () => {
    const repository = makeRepository(...HISTORY)
    const { octokit } = await withPullRequest(repository)
    const basehead = `${repository.commits[0]}...${repository.commits[1]}`
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...AT, basehead })
    expect(data.commits).toHaveLength(1)
    const commit = { message: 'change', author: { name: 'Ana', date: expect.stringMatching(/\+02:00$/) } }
    expect(data.commits[0]).toMatchObject({ sha: repository.commits[1], commit })
  })

  test('a SHA out of an address is never taken for an option or an expression of git', async () => {
    const { octokit } = await withPullRequest(makeRepository(...HISTORY))
    for (const ref of ['--help', 'main~1', 'main:kept.txt', ':/change', 'main@{0}', 'main\nHEAD']) {
      const call = octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...AT, ref })
      expect(await refusalOf(call), ref).toMatchObject({ status: 422 })
    }
  })
})

test('a waiting reader goes on when another reader leaves early', async () => {
  const { directory } = makeRepository(...HISTORY)
  const command = ['rev-parse', 'main']
  const first = Array.from({ length: COMMANDS_MAX }, () => streamGit(directory, command))
  await Promise.all(first.map((output) => output.next()))
  const waiting = Array.from({ length: 3 }, () => runGit(directory, command, 100))
  await Promise.all(first.map((output) => output.return(undefined)))
  expect((await Promise.all(waiting)).map((output) => output.length)).toEqual([41, 41, 41])
})

test('bare repositories, work trees and linked worktrees are all readable, and nothing is written into them', async () => {
  const bare = makeRepository(...HISTORY)
  const clone = join(temporaryDirectory(), 'clone')
  git(bare.directory, ['clone', '--quiet', bare.directory, clone])
  const linked = join(temporaryDirectory(), 'linked')
  git(clone, ['worktree', 'add', '--quiet', '--detach', linked])
  mkdirSync(join(clone, 'sub'))
  writeFileSync(join(clone, 'kept.txt'), 'changed in the work tree, with the index not refreshed')
  for (const gitDirectory of [bare.directory, clone, join(clone, '.git'), linked, join(linked, '.git')]) {
    const before = stateOf(join(clone, '.git'))
    const github = await startedGitHub()
    const number = await openPullRequest(github, { directory: gitDirectory, commits: bare.commits })
    const octokit = clientOf(github)
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
      ...AT,
      pull_number: number,
    })
    expect(data).toMatchObject({ changed_files: 8, commits: 1 })
    expect(stateOf(join(clone, '.git'))).toEqual(before)
  }
})

test('a folder inside a repository is not mistaken for the repository', async () => {
  const github = await startedGitHub()
  const directory = temporaryDirectory()
  git(directory, ['init', '--quiet'])
  mkdirSync(join(directory, 'inside'))
  const adding = github.addRepository({
    owner: 'a',
    name: 'b',
    gitDirectory: join(directory, 'inside'),
    defaultBranch: 'main',
  })
  await expect(adding).rejects.toThrow(/^not_a_git_repository: /)
})

function stateOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return `${path} ${entry.isFile() ? statSync(path).mtimeMs : ''}`
  })
}
