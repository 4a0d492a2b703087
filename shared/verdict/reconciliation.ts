/** The disposition of each open finding at a newer head, derived from findings and coverage, never assumed. */
import type { FileChange } from '../findings/diff.ts'
import { type Finding, type Location, pathOf, type RejectedFinding } from '../findings/finding.ts'
import { LENSES, type LensName } from '../findings/lens.ts'
import { worstFirst, worstOfEach } from '../findings/order.ts'
import { type LinesLocation, type QuotedCode, quotedCodeIn } from '../findings/quoted-code.ts'
import { SEVERITIES } from '../findings/severity.ts'
import type { Conclusion, Disposition, LensOutcome } from './conclusion.ts'

export interface ReconciliationFacts {
  /** Open at the thread's last verdict. */
  readonly open: readonly Finding[]
  /** Fingerprints of the open findings that a review has announced. */
  readonly announced: readonly string[]
  /** Fingerprints of the open findings that the last verdict saw at this head: their code has not changed. */
  readonly sameHead: readonly string[]
  /** Grounded at this head. */
  readonly found: readonly Finding[]
  /** Claimed at this head, and not grounded. */
  readonly rejected: readonly Pick<RejectedFinding, 'lens' | 'rule' | 'path'>[]
  readonly lenses: readonly LensOutcome[]
  /** The pull request's files at this head. */
  readonly files: readonly Pick<FileChange, 'path' | 'previousPath' | 'status' | 'hunks'>[]
  /** True if GitHub didn't list all files: a missing path proves nothing then. */
  readonly filesCut: boolean
}

export interface Reconciliation {
  /** One for each open finding, in the same order (FI3). */
  readonly dispositions: readonly Disposition[]
  /** Findings that stand at this head, worst first: new findings, and open findings that nothing has cleared (FI5). */
  readonly standing: readonly Finding[]
  /** Fingerprints among `standing` that an earlier review has announced (D9). */
  readonly announcedBefore: readonly string[]
}

/** Answers every open finding. A repeated finding keeps its first head (FI1). */
export function reconcileFindings(facts: ReconciliationFacts): Reconciliation {
  const foundNow = worstOfEach(facts.found)
  const dispositions = facts.open.map((finding): Disposition => {
    const again = foundNow.get(finding.fingerprint)
    return again === undefined
      ? dispositionOf(finding, facts)
      : { finding: repeatedFinding(finding, again), verb: 'still_present' }
  })

  const earlier = dispositions.filter(({ verb }) => verb === 'still_present' || verb === 'not_looked_at')
  const openBefore = new Set(earlier.map(({ finding }) => finding.fingerprint))
  const fresh = [...foundNow.values()].filter(({ fingerprint }) => !openBefore.has(fingerprint))
  const standing = [...earlier.map(({ finding }) => finding), ...fresh].sort(worstFirst)
  return { dispositions, standing, announcedBefore: facts.announced.filter((each) => openBefore.has(each)) }
}

/** Fingerprints of open findings that no lens looked at again: their location at this head is unknown. */
export function notLookedAt({ dispositions }: Pick<Conclusion, 'dispositions'>): ReadonlySet<string> {
  const unseen = dispositions.filter(({ verb }) => verb === 'not_looked_at')
  return new Set(unseen.map(({ finding }) => finding.fingerprint))
}

/** The finding as found now, with its first head. A model makes a fenced finding no milder (AD2). */
function repeatedFinding(open: Finding, again: Finding): Finding {
  const { originHead } = open
  const isMilder = SEVERITIES[again.severity].rank > SEVERITIES[open.severity].rank
  const severity = isMilder && open.fenced && isOfModel(open) ? open.severity : again.severity
  return { ...again, severity, originHead }
}

/**
 * The disposition of a finding that was not repeated. An analyzer says the same of the same code; a model may fall
 * silent. Silence clears nothing at the same head, and a fenced finding only where its code has changed. A rejected
 * claim of the same rule may have meant the finding.
 */
function dispositionOf(finding: Finding, facts: ReconciliationFacts): Disposition {
  const verb = verbOf(finding, facts)
  const { location } = finding
  if (verb === 'not_looked_at' || location.kind === 'pull_request') return { finding, verb }
  const isMeant = facts.rejected.some(
    ({ lens, rule, path }) => lens === finding.lens && rule === finding.rule && path === location.path,
  )
  if (!isOfModel(finding)) return { finding, verb: verb === 'fixed' && isMeant ? 'not_looked_at' : verb }
  const isSameHead = verb === 'fixed' && facts.sameHead.includes(finding.fingerprint)
  if (!finding.fenced && !isMeant && !isSameHead) return { finding, verb }
  if (location.kind === 'file') return { finding, verb: isSameHead ? 'still_present' : verb }

  const file = fileOf(location.path, facts.files)
  const isTakenAway = file?.status === 'removed' && location.side === 'RIGHT'
  const code = file === undefined || isTakenAway ? GONE : quotedCodeIn({ ...finding, location }, file)
  if (isSameHead)
    return { finding: { ...finding, location: locationAtSameHead(location, code) }, verb: 'still_present' }
  if (!code.stands) return { finding, verb }
  if (isFoundAnew(finding, file?.path, facts)) return { finding, verb: 'no_longer_applicable' }
  const [current, ...others] = code.locations
  // Several locations are possible, so no line gets a comment.
  if (current === undefined || others.length > 0) return { finding, verb: 'not_looked_at' }
  return { finding: { ...finding, location: current }, verb: 'still_present' }
}

const GONE: QuotedCode = { stands: false }

function isOfModel({ lens }: Finding): boolean {
  return LENSES[lens as LensName].kind === 'model'
}

/** The file, also under its new name. */
function fileOf(path: string, files: ReconciliationFacts['files']): ReconciliationFacts['files'][number] | undefined {
  return files.find((file) => file.path === path) ?? renamedFrom(path, files)
}

function renamedFrom(
  path: string,
  files: ReconciliationFacts['files'],
): ReconciliationFacts['files'][number] | undefined {
  return files.find(({ previousPath, status }) => previousPath === path && status === 'renamed')
}

/** The lines keep their numbers, but with another base the diff may show other lines. */
function locationAtSameHead(location: LinesLocation, code: QuotedCode): Location {
  const locations = code.stands ? code.locations : []
  const [only, ...others] = locations
  const own = locations.find(({ startLine }) => startLine === location.startLine)
  return own ?? (only && others.length === 0 ? only : { ...location, inDiff: false })
}

/** True if the same code has a finding with another fingerprint, as in a renamed file. */
function isFoundAnew(finding: Finding, path: string | undefined, { found, open }: ReconciliationFacts): boolean {
  return found.some(
    (other) =>
      other.lens === finding.lens &&
      other.rule === finding.rule &&
      other.quote === finding.quote &&
      pathOf(other.location) === path &&
      SEVERITIES[other.severity].rank <= SEVERITIES[finding.severity].rank &&
      !open.some(({ fingerprint }) => fingerprint === other.fingerprint),
  )
}

function verbOf(finding: Finding, facts: ReconciliationFacts): Disposition['verb'] {
  const { location } = finding
  const outcome = facts.lenses.find(({ lens }) => lens === finding.lens)
  if (location.kind === 'pull_request') return outcome?.state === 'read' ? 'fixed' : 'not_looked_at'
  const file = facts.files.find(({ path }) => path === location.path)
  // The removal of a file doesn't answer a finding about removed lines.
  const onRemovedLines = location.kind === 'lines' && location.side === 'LEFT'
  if (file?.status === 'removed' && !onRemovedLines) return 'no_longer_applicable'
  if (readInFull(outcome, location.path)) return 'fixed'
  if (file !== undefined) return 'not_looked_at'

  // In a renamed file the finding gets another fingerprint, if the lens looked there.
  const moved = renamedFrom(location.path, facts.files)
  if (moved !== undefined) return readInFull(outcome, moved.path) ? 'no_longer_applicable' : 'not_looked_at'
  return facts.filesCut ? 'not_looked_at' : 'no_longer_applicable'
}

/** True if every part with the file was read in full. A lens that failed on another part has still read this file. */
function readInFull(outcome: LensOutcome | undefined, path: string): boolean {
  const rows = outcome?.coverage.filter((row) => row.path === path) ?? []
  return rows.length > 0 && rows.every(({ state }) => state === 'full')
}
