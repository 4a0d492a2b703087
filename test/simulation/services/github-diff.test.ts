/** Git accepts the patches of the simulated GitHub, and each patch turns the first text into the second. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../infra/local/github/support.ts'
import { diffOf } from './github/line-diff.ts'

/** A generator of small pseudo-random numbers, the same in each run. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A text before and after a few changes. Few distinct lines occur, so that many lines are equal. */
function pairOf(seed: number): [before: string, after: string] {
  const below = random(seed)
  const line = () => ['a', 'b', '', '  c', 'function f() {', '+', '- x', '\\ y'][below(8)] ?? ''
  const before = Array.from({ length: below(40) }, line)
  const after = [...before]
  for (let changes = below(5); changes > 0; changes -= 1) {
    after.splice(below(after.length + 1), below(3), ...Array.from({ length: below(3) }, line))
  }
  const text = (all: readonly string[]) => (all.length === 0 ? '' : `${all.join('\n')}${below(4) === 0 ? '' : '\n'}`)
  return [text(before), text(after)]
}

test('git applies 500 patches of texts that differ in a few lines, and gets the same texts', () => {
  const directory = temporaryDirectory()
  const pairs = Array.from({ length: 500 }, (_, seed) => pairOf(seed)).filter(([before]) => before !== '')
  mkdirSync(join(directory, 'texts'))
  const patches = pairs.map(([before, after], index) => {
    const path = `texts/${index}`
    writeFileSync(join(directory, path), before)
    const { patch } = diffOf(before, after)
    if (patch === null) return ''
    return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${patch}\n`
  })
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: directory, input: patches.join('') })
  for (const [index, [, after]] of pairs.entries()) {
    expect(readFileSync(join(directory, `texts/${index}`), 'utf8'), `pair ${index}`).toBe(after)
  }
  expect(patches.filter((patch) => patch !== '').length).toBeGreaterThan(300)
})

test('a diff counts its added and deleted lines, and equal texts have no patch', () => {
  expect(diffOf('a\nb\n', 'a\nb\n')).toEqual({ patch: null, additions: 0, deletions: 0 })
  expect(diffOf('a\nb\nc\n', 'a\nx\ny\nc\n')).toMatchObject({ additions: 2, deletions: 1 })
  expect(diffOf('', 'a\n').patch).toBe('@@ -0,0 +1 @@\n+a')
  expect(diffOf('a', '').patch).toBe('@@ -1 +0,0 @@\n-a\n\\ No newline at end of file')
})
