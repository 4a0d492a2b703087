import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { LENS_NAMES, LENSES } from '../../../shared/findings/lens.ts'
import {
  configurationFrom,
  configurationJsonSchema,
  DEFAULT_CONFIGURATION,
  unreadableConfiguration,
} from '../../../shared/verdict/config.ts'

describe('configurationFrom', () => {
  test.each([
    ['no file', undefined],
    ['an empty file', null],
    ['an empty mapping', {}],
  ])('%s means the defaults', (_, value) => {
    expect(configurationFrom(value)).toEqual({ configuration: DEFAULT_CONFIGURATION, problems: [] })
  })

  test('values of the file win, and the rest keeps its default', () => {
    const value: unknown = parse(
      'lenses:\n  correctness: off\nmodels:\n  default: qwen3-coder\nrounds:\n  ceiling: 0\n',
    )
    const { configuration, problems } = configurationFrom(value)
    expect(problems).toEqual([])
    expect(configuration).toEqual({
      lenses: { ...DEFAULT_CONFIGURATION.lenses, correctness: 'off' },
      models: { default: 'qwen3-coder' },
      rounds: { ceiling: 0 },
    })
  })

  test('C1: an unknown key is named with the nearest known key, and the defaults apply as a whole', () => {
    const { configuration, problems } = configurationFrom({ lenses: { secretz: 'off', workflows: 'off' } })
    expect(configuration).toEqual(DEFAULT_CONFIGURATION)
    expect(problems).toEqual([
      {
        code: 'configuration_invalid',
        at: 'lenses.secretz',
        message: '`lenses.secretz` is not a known key. Did you mean `secrets`?',
      },
    ])
  })

  test('C1: a key without a near known key is answered with all known keys', () => {
    const [problem] = configurationFrom({ reviewers: [] }).problems
    expect(problem?.message).toBe('`reviewers` is not a known key. Known keys here: lenses, models, rounds.')
  })

  test('C5: another form of a key is an error, never read as "everything"', () => {
    for (const value of [
      { lenses: ['secrets'] },
      { lenses: 'off' },
      { models: 'gpt' },
      { lenses: null },
      [],
      'off',
      7,
    ]) {
      const { configuration, problems } = configurationFrom(value)
      expect(configuration).toEqual(DEFAULT_CONFIGURATION)
      expect(problems).toHaveLength(1)
    }
  })

  test('C5: a boolean is no state of a lens; the message names the states', () => {
    const [problem] = configurationFrom({ lenses: { secrets: false } }).problems
    expect(problem).toMatchObject({ at: 'lenses.secrets', message: '`lenses.secrets` must be active or off, as text.' })
  })

  test.each([-1, 11, 1.5, '3', null])('rounds.ceiling %j is refused with its range', (ceiling) => {
    const [problem] = configurationFrom({ rounds: { ceiling } }).problems
    expect(problem?.message).toBe('`rounds.ceiling` must be a whole number from 0 to 10.')
  })

  test('every problem is reported, not only the first', () => {
    const { problems } = configurationFrom({ lens: {}, lenses: { a: 'off', b: 'off' }, rounds: { ceiling: 99 } })
    expect(problems.map((problem) => problem.at).sort()).toEqual(['lens', 'lenses.a', 'lenses.b', 'rounds.ceiling'])
  })

  test('any file gets an answer, and problems mean the defaults', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const { configuration, problems } = configurationFrom(value)
        if (problems.length > 0) expect(configuration).toEqual(DEFAULT_CONFIGURATION)
      }),
    )
  })

  test('a file without YAML has one problem and the defaults', () => {
    expect(unreadableConfiguration('line 2: bad indentation.')).toEqual({
      configuration: DEFAULT_CONFIGURATION,
      problems: [
        {
          code: 'configuration_unreadable',
          at: '',
          message: "The file can't be read: line 2: bad indentation.",
        },
      ],
    })
  })
})

const documentation = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')

test('docs/muster.schema.json is the schema that the code validates with; `node docs/schema.ts` writes it', () => {
  expect(JSON.parse(documentation('muster.schema.json'))).toEqual(configurationJsonSchema())
})

test('docs/configuration.md has one row for each lens, and names the lenses that need a model', () => {
  const rows = [...documentation('configuration.md').matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)]
  expect(rows.map(([, lens, needs]) => [lens, needs === 'a model'])).toEqual(
    LENS_NAMES.map((lens) => [lens, LENSES[lens].kind === 'model']),
  )
})
