/**
 * A conclusion as SARIF 2.1.0, for tools that show findings beside code. Pure.
 * Format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */

import type { Finding } from '../shared/findings/finding.ts'
import type { Severity } from '../shared/findings/severity.ts'
import type { Conclusion } from '../shared/verdict/conclusion.ts'

export interface SarifLog {
  readonly $schema: string
  readonly version: '2.1.0'
  readonly runs: readonly SarifRun[]
}

export interface SarifRun {
  readonly tool: {
    readonly driver: {
      readonly name: string
      readonly semanticVersion: string
      readonly rules: readonly SarifRule[]
    }
  }
  /** The reviewed commit. */
  readonly versionControlProvenance: readonly { readonly repositoryUri: string; readonly revisionId: string }[]
  readonly automationDetails: { readonly id: string }
  readonly invocations: readonly [
    {
      /** False for an incomplete review: then an absent result is no proof of absent findings. */
      readonly executionSuccessful: boolean
      readonly toolExecutionNotifications: readonly {
        readonly level: 'error'
        readonly message: { readonly text: string }
      }[]
    },
  ]
  readonly columnKind: 'utf16CodeUnits'
  readonly results: readonly SarifResult[]
}

export interface SarifRule {
  readonly id: string
  readonly shortDescription: { readonly text: string }
  readonly defaultConfiguration: { readonly level: SarifLevel }
  readonly properties: { readonly tags: readonly string[] }
}

export interface SarifResult {
  readonly ruleId: string
  readonly ruleIndex: number
  readonly level: SarifLevel
  readonly message: { readonly text: string }
  readonly locations: readonly SarifLocation[]
  readonly partialFingerprints: { readonly 'musterFinding/v1': string }
  readonly properties: { readonly severity: Severity; readonly lens: string; readonly side?: 'LEFT' | 'RIGHT' }
}

export interface SarifLocation {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string; readonly uriBaseId: '%SRCROOT%' }
    readonly region?: { readonly startLine: number; readonly endLine: number }
  }
}

export type SarifLevel = 'error' | 'warning' | 'note'

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const LEVELS: Readonly<Record<Severity, SarifLevel>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
}

/**
 * `repositoryUri` is the home of the commits, `version` is Muster's own. Each standing finding is one result, worst
 * first.
 */
export function sarifOf(conclusion: Conclusion, repositoryUri: string, version: string): SarifLog {
  const rules = new Map<string, SarifRule>()
  for (const finding of conclusion.findings) {
    const id = ruleIdOf(finding)
    // Findings come worst first: the default level of a rule comes from its worst finding.
    if (!rules.has(id)) rules.set(id, ruleOf(finding))
  }
  const ids = [...rules.keys()]
  const { owner, name } = conclusion.repository
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'Muster', semanticVersion: version, rules: [...rules.values()] },
        },
        versionControlProvenance: [{ repositoryUri, revisionId: conclusion.head }],
        automationDetails: { id: `muster/${owner}/${name}/${conclusion.number}/${conclusion.runId}` },
        invocations: [
          {
            executionSuccessful: conclusion.verdict !== 'incomplete',
            toolExecutionNotifications: conclusion.incompleteReasons.map((text) => ({
              level: 'error',
              message: { text },
            })),
          },
        ],
        columnKind: 'utf16CodeUnits',
        results: conclusion.findings.map((finding) => resultOf(finding, ids)),
      },
    ],
  }
}

/** A lens and its rule: rules of two lenses may have one name. */
function ruleIdOf({ lens, rule }: Finding): string {
  return `${lens}/${rule}`
}

function ruleOf(finding: Finding): SarifRule {
  return {
    id: ruleIdOf(finding),
    shortDescription: { text: `${finding.rule}, by the lens ${finding.lens}` },
    defaultConfiguration: { level: LEVELS[finding.severity] },
    properties: { tags: [finding.lens, ...(finding.fenced ? ['security'] : [])] },
  }
}

function resultOf(finding: Finding, ruleIds: readonly string[]): SarifResult {
  const { severity, lens, location, title, why, clears, fingerprint } = finding
  const ruleId = ruleIdOf(finding)
  return {
    ruleId,
    ruleIndex: ruleIds.indexOf(ruleId),
    level: LEVELS[severity],
    message: { text: `${title}\n\n${why}\n\nTo clear it: ${clears}` },
    locations: locationsOf(location),
    partialFingerprints: { 'musterFinding/v1': fingerprint },
    properties: { severity, lens, ...(location.kind === 'lines' ? { side: location.side } : {}) },
  }
}

/**
 * No location for the pull request as a whole. Lines of the LEFT side are lines before the change, which a viewer of
 * the head doesn't have.
 */
function locationsOf(location: Finding['location']): SarifLocation[] {
  if (location.kind === 'pull_request') return []
  const uri = location.path.split('/').map(encodeURIComponent).join('/')
  const artifactLocation = { uri, uriBaseId: '%SRCROOT%' as const }
  if (location.kind === 'file' || location.side === 'LEFT') return [{ physicalLocation: { artifactLocation } }]
  return [{ physicalLocation: { artifactLocation, region: { startLine: location.startLine, endLine: location.line } } }]
}
