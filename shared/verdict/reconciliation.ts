/** What became of each finding that was open before, at a newer head: answered from what was found and what was read, never assumed. */

import type { FileChange } from '../findings/diff.ts'
import { type Finding, type Location, pathOf, type RejectedFinding } from '../findings/finding.ts'
import { LENSES, type LensName } from '../findings/lens.ts'
import { worstFirst } from '../findings/order.ts'
import { type LinesLocation, type QuotedCode, quotedCodeIn } from '../findings/quoted-code.ts'
import { SEVERITIES } from '../findings/severity.ts'
import type { Conclusion, Disposition, LensOutcome } from './conclusion.ts'

export interface ReconciliationFacts {
  /** Open at the thread's last verdict. */
  readonly open: readonly Finding[]
  /** Fingerprints of those that people were told of. */
  readonly announced: readonly string[]
  /** Fingerprints of those that the last verdict had at this very head: their code is what it was. */
  readonly sameHead: readonly string[]
  /** Found and grounded at this head. */
  readonly found: readonly Finding[]
  /** Claimed at this head, and not found. */
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
  /** What stands at this head, worst first: found now, and open ones that nothing has cleared (FI5). */
  readonly standing: readonly Finding[]
  /** Fingerprints among `standing` that an earlier review has announced (D9). */
  readonly announcedBefore: readonly string[]
}

/** Answers every open finding. One that is found again keeps the head at which it was first announced (FI1). */
export function reconcileFindings(facts: ReconciliationFacts): Reconciliation {
  // Of several with one identity the worst one counts, so it is the last to be put in.
  const foundNow = new Map(
    [...facts.found]
      .sort(worstFirst)
      .reverse()
      .map((finding) => [finding.fingerprint, finding]),
  )
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

/** Fingerprints of open findings that nobody looked at again: where they stand at this head isn't known. */
export function notLookedAt({ dispositions }: Pick<Conclusion, 'dispositions'>): ReadonlySet<string> {
  const unseen = dispositions.filter(({ verb }) => verb === 'not_looked_at')
  return new Set(unseen.map(({ finding }) => finding.fingerprint))
}

/** As it is found now, since when it was first announced. A model makes a fenced one no milder (AD2, DESIGN §7). */
function repeatedFinding(open: Finding, again: Finding): Finding {
  const { originHead } = open
  const isMilder = SEVERITIES[again.severity].rank > SEVERITIES[open.severity].rank
  const severity = isMilder && open.fenced && isOfModel(open) ? open.severity : again.severity
  return { ...again, severity, originHead }
}

/**
 * One that isn't found again. An analyzer says the same of the same code; a model may fall silent. Its silence clears nothing
 * at a head at which it stood already, and what is fenced only where the code is another one (DESIGN §7). A claim of the same
 * rule that could not be grounded may have meant it.
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
  const [now, ...others] = code.locations
  // Of several places none is certain, so it gets no comment on a line.
  if (now === undefined || others.length > 0) return { finding, verb: 'not_looked_at' }
  return { finding: { ...finding, location: now }, verb: 'still_present' }
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

/** Its lines have the same numbers, but with another base the diff may show others. */
function locationAtSameHead(location: LinesLocation, code: QuotedCode): Location {
  const locations = code.stands ? code.locations : []
  const [only, ...others] = locations
  const own = locations.find(({ startLine }) => startLine === location.startLine)
  return own ?? (only && others.length === 0 ? only : { ...location, inDiff: false })
}

/** True if the same code has a finding under another identity, as in a file that was renamed. */
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
  // A finding on what a removal takes away isn't answered by the removal.
  const onRemovedLines = location.kind === 'lines' && location.side === 'LEFT'
  if (file?.status === 'removed' && !onRemovedLines) return 'no_longer_applicable'
  if (readInFull(outcome, location.path)) return 'fixed'
  if (file !== undefined) return 'not_looked_at'

  // Moved: under its new path it is another finding, if the lens looked there.
  const moved = renamedFrom(location.path, facts.files)
  if (moved !== undefined) return readInFull(outcome, moved.path) ? 'no_longer_applicable' : 'not_looked_at'
  return facts.filesCut ? 'not_looked_at' : 'no_longer_applicable'
}

/** True if the lens says so of every part that holds the file. Also a lens that failed elsewhere has read what it read. */
function readInFull(outcome: LensOutcome | undefined, path: string): boolean {
  const rows = outcome?.coverage.filter((row) => row.path === path) ?? []
  return rows.length > 0 && rows.every(({ state }) => state === 'full')
}
