/** The command reads any local repository, under any name of its path, and writes nothing into the repository. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readChange, repositoryName } from '../../cli/git.ts'
import { digestOfFolder, makeRepository } from './repositories.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'muster-git-'))
afterAll(() => rmSync(folder, { recursive: true }))

const clone = makeRepository(path.join(folder, 'widgets'))
const base = clone.commit('Base', { 'a.txt': 'a\n', 'deep/er/b.txt': 'b\n' })
clone.git('checkout', '--quiet', '-b', 'fix-ä')
const head = clone.commit('Fix the parser\n\nIt was wrong.\n\nNow it is not.', { 'a.txt': 'A\n' })
clone.git('tag', '--annotate', '--message', 'a tag', 'v1')
clone.git('checkout', '--quiet', 'main')
const onMain = clone.commit('Meanwhile', { 'c.txt': 'c\n' })
clone.git('merge', '--quiet', '--no-edit', 'fix-ä')
clone.git('checkout', '--quiet', 'fix-ä')

test('a change is read from a branch, a tag, a parent of a merge and a short SHA', async () => {
  const change = await readChange(clone.directory, base.slice(0, 10), 'fix-ä')
  expect(change).toMatchObject({
    base: { ref: base.slice(0, 10), sha: base },
    head: { ref: 'fix-ä', sha: head },
    subject: 'Fix the parser',
    body: 'It was wrong.\n\nNow it is not.',
    author: 'Ada-Lovelace',
  })
  expect((await readChange(clone.directory, 'main^1', 'main^2')).base.sha).toBe(onMain)
  expect((await readChange(clone.directory, 'main^1', 'main^2')).head.sha).toBe(head)
  expect((await readChange(clone.directory, 'main', 'v1')).head).toEqual({ ref: 'v1', sha: head })
  expect((await readChange(clone.directory, 'main', base)).body).toBeNull()
})

test('HEAD is the checked-out branch: calls from a branch meet in one pull request', async () => {
  expect((await readChange(clone.directory, 'main', 'HEAD')).head).toEqual({ ref: 'fix-ä', sha: head })
  clone.git('checkout', '--quiet', '--detach')
  expect((await readChange(clone.directory, 'main', 'HEAD')).head).toEqual({ ref: 'HEAD', sha: head })
  clone.git('checkout', '--quiet', 'fix-ä')
})

test('a clone, a folder inside, the .git and a link are a single repository; a bare repository and a worktree are their own', async () => {
  const bare = path.join(folder, 'widgets.git')
  clone.git('clone', '--quiet', '--bare', '.', bare)
  const worktree = path.join(folder, 'wörk tree')
  clone.git('worktree', 'add', '--quiet', worktree, 'main')
  const link = path.join(folder, 'link')
  symlinkSync(clone.directory, link)
  const nameOf = async (directory: string) => (await readChange(directory, 'main', 'fix-ä')).repository.name
  const name = await nameOf(clone.directory)
  for (const same of ['deep/er', '.git', '.']) expect(await nameOf(path.join(clone.directory, same))).toBe(name)
  expect(await nameOf(link)).toBe(name)
  const names = new Set([name, await nameOf(bare), await nameOf(worktree)])
  expect(names.size).toBe(3)
  for (const each of names) expect(each).toMatch(/^[A-Za-z0-9._-]+-[0-9a-f]{8}$/)
})

test('a repository of any name gets a name that GitHub would take', () => {
  for (const name of ['/repos/ü b/.git', `/repos/${'x'.repeat(200)}`, '/.git', '/repos/日本.git']) {
    expect(repositoryName(name)).toMatch(/^[A-Za-z0-9._-]{1,100}$/)
  }
})

describe('a mistake names its argument', () => {
  const outside = path.join(folder, 'outside')
  mkdirSync(outside)
  clone.git('checkout', '--quiet', '--orphan', 'unrelated')
  clone.commit('Unrelated', {})
  clone.git('checkout', '--quiet', 'fix-ä')
  const cases: [string, string, string, string, RegExp][] = [
    ['a base that is not there', clone.directory, 'nope', 'fix-ä', /^--base nope is no commit/],
    ['a head that is not there', clone.directory, 'main', 'nope', /^--head nope is no commit/],
    ['a ref that looks like an option', clone.directory, '--all', 'fix-ä', /^--base --all is no commit/],
    ['a blob', clone.directory, 'main:a.txt', 'fix-ä', /^--base main:a.txt is no commit/],
    ['histories without a common commit', clone.directory, 'unrelated', 'fix-ä', /no commit in common/],
    ['a folder without a repository', outside, 'main', 'fix-ä', /^not_a_git_repository: /],
    ['no folder at all', path.join(folder, 'nowhere'), 'main', 'fix-ä', /^not_a_git_repository: /],
  ]
  test.each(cases)('%s', async (_name, directory, baseRef, headRef, message) => {
    await expect(readChange(directory, baseRef, headRef)).rejects.toThrow(message)
  })
})

test('nothing is written into the repository', async () => {
  const before = digestOfFolder(clone.directory)
  await readChange(clone.directory, 'main', 'fix-ä')
  expect(digestOfFolder(clone.directory)).toBe(before)
})
