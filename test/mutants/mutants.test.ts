import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { changedFile, changedText } from './change.ts'
import { mutants } from './list/all.ts'

describe('the list of mutants', () => {
  it('every mutant has a unique name', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  })

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    'the mutant fits the code, and the changed code parses: %s',
    async (_, mutant) => {
      expect(mutant.find).not.toBe(mutant.replace)
      await expect(transform(changedFile(mutant), { loader: 'ts', logLevel: 'silent' })).resolves.toBeDefined()
    },
  )
})

describe('changedText', () => {
  const change = { file: 'a.ts', find: 'a < b', replace: 'a <= $& b' }

  it('changedText replaces exactly the found text', () => {
    expect(changedText(change, 'if (a < b) c()')).toBe('if (a <= $& b) c()')
  })

  it.each(['if (a > b) c()', 'a < b || a < b'])(
    'changedText refuses a text that does not occur exactly once: %s',
    (source) => {
      expect(() => changedText(change, source)).toThrow(/^Expected once in a.ts/)
    },
  )
})
