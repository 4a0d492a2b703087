/** docs/configuration.md has what the code reads: the settings of a deployment, the keys of the file, the lenses. */
import { expect, test } from 'vitest'
import { LENS_NAMES } from '../../shared/findings/lens.ts'
import { configurationJsonSchema } from '../../shared/verdict/config.ts'
import { files, read } from './pages.ts'

const page = read('docs/configuration.md')

test('every setting of a deployment has its row, and no other has one', () => {
  const infra = files
    .filter((file) => /^infra\/[^/]+\.ts$/.test(file))
    .map(read)
    .join('\n')
  const asked = [...infra.matchAll(/\bcontext\.(?:text|url|wholeNumber|oneOf|textLike|flag)\(\s*['`](\w+)/g)].map(
    ([, name]) => name,
  )
  const named = [...page.matchAll(/`muster:(\w+)/g)].map(([, name]) => name)
  expect(asked.length).toBeGreaterThan(5)
  expect([...new Set(named)].toSorted()).toEqual([...new Set(asked)].toSorted())
})

test('every lens has its row, and the example every key of the schema', () => {
  expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, lens]) => lens)).toEqual([...LENS_NAMES])
  const { properties } = configurationJsonSchema() as { properties: object }
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
  expect([...example.matchAll(/^(\w+):/gm)].map(([, key]) => key)).toEqual(Object.keys(properties))
})
