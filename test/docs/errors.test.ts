/** The pages have the error codes and the ceiling of the code. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('every error code stands once in docs/errors.md, and no other does', () => {
  const union = /export type ErrorCode =\n([\s\S]*?)\n\n/.exec(read('shared/base/errors.ts'))?.[1] ?? ''
  const codes = [...union.matchAll(/^ {2}\| '(\w+)'$/gm)].map(([, code]) => code)
  const documented = [...read('docs/errors.md').matchAll(/<a id="(\w+)"><\/a>`\1`/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(20)
  expect(documented.toSorted()).toEqual(codes.toSorted())
})

test('AW94: the default ceiling in the pages is the number in the code', () => {
  const ceiling = /FLEET_CONCURRENCY_DEFAULT = (\d+)/.exec(read('shared/base/limits.ts'))?.[1]
  expect(read('docs/configuration.md')).toContain(`at most **${ceiling}** reviews at once`)
  expect(read('README.md')).toContain(`**${ceiling}** reviews at once`)
})
