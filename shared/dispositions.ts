/** What became of each finding that was open before, at a newer head: answered from what was found and what was read, never assumed. */
import type { Conclusion, Disposition, LensOutcome } from './conclusion.ts'
import type { FileChange } from './diff.ts'
import type { Finding } from './finding.ts'
import { SEVERITIES } from './severity.ts'

export interface DispositionFacts {
  /** Open at the thread's last verdict. */
  readonly open: readonly Finding[]
  /** Fingerprints of those that people were told of. */
  readonly said: readonly string[]
  /** Found and grounded at this head. */
  readonly found: readonly Finding[]
  readonly lenses: readonly LensOutcome[]
  /** The pull request's files at this head. */
  readonly files: readonly Pick<FileChange, 'path' | 'previousPath' | 'status'>[]
  /** True if GitHub didn't list all files: a missing path proves nothing then. */
  readonly filesCut: boolean
}

export interface Disposed {
  /** One for each open finding, in the same order (FI3). */
  readonly dispositions: readonly Disposition[]
  /** What stands at this head, worst first: found now, and open ones that nobody looked at again (FI5). */
  readonly standing: readonly Finding[]
  /** Fingerprints among `standing` that an earlier review has said (D9). */
  readonly saidBefore: readonly string[]
}

/** Answers every open finding. One that is found again keeps the head at which it was first said (FI1). */
export function dispose(facts: DispositionFacts): Disposed {
  // Of several with one identity the worst one counts, so it is the last to be put in.
  const foundNow = new Map(
    [...facts.found]
      .sort(worstFirst)
      .reverse()
      .map((finding) => [finding.fingerprint, finding]),
  )
  const dispositions = facts.open.map((finding): Disposition => {
    const again = foundNow.get(finding.fingerprint)
    if (again === undefined) return { finding, verb: verbOf(finding, facts) }
    return { finding: { ...again, originHead: finding.originHead }, verb: 'still_present' }
  })

  const earlier = dispositions.filter(({ verb }) => verb === 'still_present' || verb === 'not_looked_at')
  const openBefore = new Set(earlier.map(({ finding }) => finding.fingerprint))
  const fresh = [...foundNow.values()].filter(({ fingerprint }) => !openBefore.has(fingerprint))
  const standing = [...earlier.map(({ finding }) => finding), ...fresh].sort(worstFirst)
  return { dispositions, standing, saidBefore: facts.said.filter((each) => openBefore.has(each)) }
}

/** Fingerprints of open findings that nobody looked at again: where they stand at this head isn't known. */
export function notLookedAt({ dispositions }: Pick<Conclusion, 'dispositions'>): ReadonlySet<string> {
  const unseen = dispositions.filter(({ verb }) => verb === 'not_looked_at')
  return new Set(unseen.map(({ finding }) => finding.fingerprint))
}

/** Worst first; equal ones by place, so that the order doesn't depend on which lens answered first. */
export function worstFirst(a: Finding, b: Finding): number {
  return (
    SEVERITIES[a.severity].rank - SEVERITIES[b.severity].rank ||
    compare(pathOf(a), pathOf(b)) ||
    lineOf(a) - lineOf(b) ||
    compare(a.fingerprint, b.fingerprint)
  )
}

function verbOf(finding: Finding, facts: DispositionFacts): Disposition['verb'] {
  const { place } = finding
  const outcome = facts.lenses.find(({ lens }) => lens === finding.lens)
  if (place.kind === 'pull_request') return outcome?.state === 'read' ? 'fixed' : 'not_looked_at'
  const file = facts.files.find(({ path }) => path === place.path)
  // A finding on what a removal takes away isn't answered by the removal.
  const onRemovedLines = place.kind === 'lines' && place.side === 'LEFT'
  if (file?.status === 'removed' && !onRemovedLines) return 'no_longer_applicable'
  if (readInFull(outcome, place.path)) return 'fixed'
  if (file !== undefined) return 'not_looked_at'

  // Moved: under its new path it is another finding, if the lens looked there.
  const moved = facts.files.find(({ previousPath, status }) => previousPath === place.path && status === 'renamed')
  if (moved !== undefined) return readInFull(outcome, moved.path) ? 'no_longer_applicable' : 'not_looked_at'
  return facts.filesCut ? 'not_looked_at' : 'no_longer_applicable'
}

/** True if the lens says so of every part that holds the file. Also a lens that failed elsewhere has read what it read. */
function readInFull(outcome: LensOutcome | undefined, path: string): boolean {
  const rows = outcome?.coverage.filter((row) => row.path === path) ?? []
  return rows.length > 0 && rows.every(({ state }) => state === 'full')
}

function pathOf({ place }: Finding): string {
  return place.kind === 'pull_request' ? '' : place.path
}

function lineOf({ place }: Finding): number {
  return place.kind === 'lines' ? place.line : 0
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
