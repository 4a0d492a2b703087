/** A conclusion for tests of its readers. */

import type { Finding, Location } from '../../shared/findings/finding.ts'
import type { Severity } from '../../shared/findings/severity.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'

const HEAD = 'b'.repeat(40)

export function finding(rule: string, severity: Severity, location: Location, more: Partial<Finding> = {}): Finding {
  return {
    fingerprint: rule.padEnd(64, '0'),
    lens: 'secrets',
    rule,
    severity,
    title: `Title of ${rule}`,
    why: `Why ${rule} matters`,
    clears: `What clears ${rule}`,
    location,
    quote: '',
    fenced: false,
    originHead: HEAD,
    cut: false,
    ...more,
  }
}

export function lines(path: string, startLine: number, line: number, side: 'LEFT' | 'RIGHT' = 'RIGHT'): Location {
  return { kind: 'lines', path, side, startLine, line, inDiff: true }
}

export function conclusion(more: Partial<Conclusion> = {}): Conclusion {
  return {
    runId: 'a'.repeat(64),
    planKey: 'c'.repeat(64),
    repository: { id: 1, owner: 'local', name: 'widgets-0a1b2c3d' },
    number: 1,
    head: HEAD,
    baseRef: 'main',
    kind: 'full',
    round: 1,
    roundsCeiling: 3,
    verdict: 'pass',
    incompleteReasons: [],
    findings: [],
    announcedBefore: [],
    dispositions: [],
    rejected: [],
    merged: 0,
    lenses: [],
    leftOut: [],
    configurationProblems: [],
    adjudication: 'not_needed',
    ...more,
  }
}
