/** `.github/muster.yml` as text: every problem is reported, and no secret with it. */
import { describe, expect, it } from 'vitest'
import { configurationOf } from '../../../../functions/plan/core/configuration.ts'
import { CONFIGURATION_BYTES_MAX } from '../../../../shared/base/limits.ts'

const TOKEN = `gh${'p_'}${'Zk4Tq9Wm2Xb7Rc1Vn8Ls5Yd3Hf6Jg0Pa4Ue2'}`

describe('an invalid configuration', () => {
  it.each([
    ['C1: an unknown key', `lensess: {}`, /lensess/],
    ['no YAML', `lenses: [`, /not YAML/],
    ['C5: a key that stands twice', `rounds: {ceiling: 1}\nrounds: {ceiling: 2}`, /not YAML/],
    ['an alias, which could grow without bound', `a: &x 1\nb: *x`, /aliases/],
    ['more than is read', `# ${'x'.repeat(CONFIGURATION_BYTES_MAX)}`, /bytes/],
  ])('%s is a problem with a sentence, and the defaults apply', (_what, text, sentence) => {
    const { problems, configuration } = configurationOf(text)
    expect(problems.map(({ message, at }) => `${at} ${message}`).join(' ')).toMatch(sentence)
    expect(configuration).toEqual(configurationOf(undefined).configuration)
  })

  it.each([
    ['as a key', `${TOKEN}: true`],
    ['as a value', `rounds: {ceiling: "${TOKEN}"}`],
    ['as text without YAML', `lenses: ["${TOKEN}`],
  ])('AW91: a problem does not repeat a secret of the file %s', (_where, text) => {
    const { problems } = configurationOf(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(JSON.stringify(problems)).not.toContain(TOKEN)
  })
})
