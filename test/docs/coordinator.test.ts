/** docs/coordinator.md names every failpoint, state and invariant of the code, and no other. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAILPOINTS } from '../../shared/base/failpoints.ts'
import { invariantIds } from '../simulation/invariants/broken.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/coordinator.md')

/** The text between a heading of the page and the next one of its level. */
function section(heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`)
  return text.split('\n## ', 1)[0] ?? ''
}

/** The members of a union of literals in a source. */
function literalsOf(path: string, type: string): string[] {
  const [, union = ''] = new RegExp(`export type ${type} =([^\\n]*(?:\\n {2}\\|[^\\n]*)*)`).exec(read(path)) ?? []
  return [...union.matchAll(/'(\w+)'/g)].map(([, literal = '']) => literal)
}

test('each failpoint of the code has one row among the crash windows, and no row has another', () => {
  const rows = section('Crash windows').split('\n')
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+\.\w+)`/g)].map(([, point]) => point),
  )
  expect(named.toSorted()).toEqual([...FAILPOINTS].toSorted())
})

describe('a diagram has each state of the code, and no other', () => {
  const diagrams = [...section('States').matchAll(/```mermaid\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  const statesIn = (diagram = '') =>
    new Set(
      [...diagram.matchAll(/^ {2}(\S+) --> (\w+)/gm)]
        .flatMap(([, from, to]) => [from, to])
        .filter((state) => state !== '[*]'),
    )

  test.each([
    ['a run', 'shared/runs/run.ts', 'RunState', 0],
    ['a review', 'shared/runs/review.ts', 'ReviewState', 1],
  ] as const)('of %s', (_what, path, type, index) => {
    expect([...statesIn(diagrams[index])].toSorted()).toEqual(literalsOf(path, type).toSorted())
  })
})

test('each invariant of the simulation has its row in the page', () => {
  const rows = [...section('What always holds').matchAll(/^\| (I\d) \|/gm)].map(([, id]) => id)
  expect(rows).toEqual(invariantIds.filter((id) => /^I\d$/.test(id)))
})

test('each file and folder that the page names is there', () => {
  const paths = [...page.matchAll(/`((?:shared|test)\/[^\s`]+)`/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([])
})
