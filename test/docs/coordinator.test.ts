/** docs/coordinator.md names every failpoint, state and invariant of the code, and no other. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAILPOINTS } from '../../shared/base/failpoints.ts'
import { reviewSchema } from '../../shared/runs/review.ts'
import { runSchema } from '../../shared/runs/run.ts'
import { invariantIds } from '../simulation/invariants/broken.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/coordinator.md')

/** The text between a heading of the page and the next one of its level. */
function section(heading: string): string {
  const [, text = ''] = page.split(`\n## ${heading}\n`)
  return text.split('\n## ', 1)[0] ?? ''
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
    ['a run', runSchema, 0],
    ['a review', reviewSchema, 1],
  ] as const)('of %s', (_what, { shape }, index) => {
    expect([...statesIn(diagrams[index])].toSorted()).toEqual(shape.state.options.toSorted())
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
