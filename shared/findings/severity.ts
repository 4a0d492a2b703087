/** The meaning of each severity, everywhere. */

export type Severity = 'critical' | 'high' | 'medium' | 'low'

export interface SeverityMeaning {
  /** The heading in the summary. */
  readonly heading: 'critical' | 'important' | 'suggestion'
  /** Blocks the pull request. */
  readonly blocking: boolean
  /** Worth another round. */
  readonly material: boolean
  /** Worst first. */
  readonly rank: number
}

export const SEVERITIES: Readonly<Record<Severity, SeverityMeaning>> = {
  critical: { heading: 'critical', blocking: true, material: true, rank: 0 },
  high: { heading: 'important', blocking: true, material: true, rank: 1 },
  medium: { heading: 'important', blocking: false, material: true, rank: 2 },
  low: { heading: 'suggestion', blocking: false, material: false, rank: 3 },
}
