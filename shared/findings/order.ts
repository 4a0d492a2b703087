/** The order of findings: worst first. */
import { compareTexts } from '../base/text.ts'
import { type Finding, type Location, pathOf } from './finding.ts'
import { SEVERITIES } from './severity.ts'

type Ordered = Pick<Finding, 'severity' | 'location'> & Partial<Pick<Finding, 'fingerprint'>>

/** By severity, path, line and fingerprint: the order doesn't depend on which lens answered first (D9). */
export function worstFirst(a: Ordered, b: Ordered): number {
  return (
    SEVERITIES[a.severity].rank - SEVERITIES[b.severity].rank ||
    compareTexts(pathOf(a.location), pathOf(b.location)) ||
    lineOf(a.location) - lineOf(b.location) ||
    compareTexts(a.fingerprint ?? '', b.fingerprint ?? '')
  )
}

/** The worst finding of each fingerprint. */
export function worstOfEach(findings: readonly Finding[]): ReadonlyMap<string, Finding> {
  const bestFirst = [...findings].sort(worstFirst).reverse()
  return new Map(bestFirst.map((finding) => [finding.fingerprint, finding]))
}

function lineOf(location: Location): number {
  return location.kind === 'lines' ? location.line : 0
}
