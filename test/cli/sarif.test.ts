/** SARIF 2.1.0: all that readers need, in agreement with the review. */
import { describe, expect, test } from 'vitest'
import { type SarifLog, sarifOf } from '../../cli/sarif.ts'
import { conclusion, finding, lines } from './conclusion.ts'

const REPOSITORY = 'file:///repos/widgets/.git'

const reviewed = conclusion({
  verdict: 'changes_requested',
  findings: [
    finding('private-key', 'critical', lines('src/a b/ä#1.js', 3, 7), { fenced: true }),
    finding('syntax', 'high', lines('.github/workflows/ci.yml', 9, 9), { lens: 'workflows' }),
    finding('expression', 'medium', { kind: 'file', path: 'x.yml' }, { lens: 'workflows' }),
    finding('private-key', 'low', lines('old.js', 4, 4, 'LEFT')),
    finding('missing-sections', 'low', { kind: 'pull_request' }, { lens: 'description' }),
  ],
})

describe('a review with findings', () => {
  const log = sarifOf(reviewed, REPOSITORY, '1.2.3')
  const [run] = log.runs

  test('has the structure of the standard', () => {
    expect(structuralFaults(log)).toEqual([])
    expect(run?.versionControlProvenance).toEqual([{ repositoryUri: REPOSITORY, revisionId: reviewed.head }])
  })

  test('every finding is one result, in the same order, with the level of its severity', () => {
    expect(run?.results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ['secrets/private-key', 'error'],
      ['workflows/syntax', 'error'],
      ['workflows/expression', 'warning'],
      ['secrets/private-key', 'note'],
      ['description/missing-sections', 'note'],
    ])
  })

  test('a rule appears once, with the level of its worst finding and a tag for security', () => {
    const rule = run?.tool.driver.rules.filter(({ id }) => id === 'secrets/private-key')
    expect(rule).toEqual([
      expect.objectContaining({
        defaultConfiguration: { level: 'error' },
        properties: { tags: ['secrets', 'security'] },
      }),
    ])
  })

  test('lines of the head have a region; a whole file, lines before the change and the pull request have none', () => {
    const locations = run?.results.map(({ locations }) =>
      locations.map(({ physicalLocation: { artifactLocation, region } }) => [artifactLocation.uri, region]),
    )
    expect(locations).toEqual([
      [['src/a%20b/%C3%A4%231.js', { startLine: 3, endLine: 7 }]],
      [['.github/workflows/ci.yml', { startLine: 9, endLine: 9 }]],
      [['x.yml', undefined]],
      [['old.js', undefined]],
      [],
    ])
  })

  test('the fingerprint of a finding identifies its result at the next head', () => {
    expect(run?.results.map(({ partialFingerprints }) => partialFingerprints['musterFinding/v1'])).toEqual(
      reviewed.findings.map(({ fingerprint }) => fingerprint),
    )
  })
})

test('an incomplete review is no successful review: no result does not mean no finding', () => {
  const reasons = ['The lens correctness did not read.']
  const [run] = sarifOf(conclusion({ verdict: 'incomplete', incompleteReasons: reasons }), REPOSITORY, '1.2.3').runs
  expect(run?.invocations).toEqual([
    {
      executionSuccessful: false,
      toolExecutionNotifications: [{ level: 'error', message: { text: reasons[0] } }],
    },
  ])
})

/** The requirements of sections 3.13, 3.14, 3.19, 3.27 and 3.49 of the standard on the used parts. */
function structuralFaults(log: SarifLog): string[] {
  const faults: string[] = []
  const must = (holds: boolean, what: string) => void (holds || faults.push(what))
  must(log.version === '2.1.0', 'version')
  must(URL.canParse(log.$schema), '$schema')
  must(log.runs.length === 1, 'one run')
  for (const { tool, results, automationDetails } of log.runs) {
    const { name, semanticVersion, rules } = tool.driver
    must(name.length > 0, 'driver.name')
    must(/^\d+\.\d+\.\d+$/.test(semanticVersion), 'driver.semanticVersion')
    must(new Set(rules.map(({ id }) => id)).size === rules.length, 'rule ids are unique')
    must(automationDetails.id.length > 0, 'automationDetails.id')
    for (const { ruleId, ruleIndex, level, message, locations } of results) {
      must(rules[ruleIndex]?.id === ruleId, `${ruleId}: ruleIndex`)
      must(['none', 'note', 'warning', 'error'].includes(level), `${ruleId}: level`)
      must(message.text.length > 0, `${ruleId}: message`)
      for (const { physicalLocation } of locations) {
        const { uri } = physicalLocation.artifactLocation
        must(URL.canParse(uri, 'file:///root/') && !uri.startsWith('/'), `${ruleId}: relative uri`)
        const { startLine = 1, endLine = startLine } = physicalLocation.region ?? {}
        must(startLine >= 1 && endLine >= startLine, `${ruleId}: region`)
      }
    }
  }
  return faults
}
