/**
 * Turns what a lens claims into findings that stand: each at a place that exists, redacted, bounded, with an identity
 * that holds over heads. A claim whose place can't be found is rejected and counted, never moved to a guessed line.
 */

import { FINDING_BYTES_MAX, FINDINGS_PER_REVIEW_MAX } from '../base/limits.ts'
import { redact, withoutValues } from '../base/redaction.ts'
import { byteLength, type CutText, cutAtBytes, folded, visible, withoutOwnMarkers } from '../base/text.ts'
import { anchorInDiff, type FileChange } from './diff.ts'
import {
  type ClaimedFinding,
  type ClaimedLocation,
  type Finding,
  pathOf,
  type RejectedFinding,
  type Side,
} from './finding.ts'
import { fingerprintOf } from './fingerprint.ts'
import type { LensName } from './lens.ts'
import { worstFirst } from './order.ts'
import { candidatesOf, type SideText, sideTextOf } from './quote.ts'

export interface GroundingContext {
  readonly lens: LensName
  /** The files that the lens was given. */
  readonly files: readonly FileChange[]
  /** A file's text at the head; undefined if it was not fetched. */
  texts(path: string): string | undefined
  readonly head: string
  /** Open at the last verdict: the same finding keeps the head at which it was first said (FI1). */
  readonly openFindings: readonly Finding[]
}

export interface Grounded {
  /** Worst first. */
  readonly findings: readonly Finding[]
  readonly rejected: readonly RejectedFinding[]
}

/**
 * Grounds the claims of one review. Claims in = findings + rejected, each rejected one with its reason. Of the grounded
 * ones at most `FINDINGS_PER_REVIEW_MAX` stand, the worst; the others are rejected as `over_limit`.
 */
export function groundClaims(claims: readonly ClaimedFinding[], context: GroundingContext): Grounded {
  const find = finderOf(context)
  const rejected: RejectedFinding[] = []
  const located: LocatedClaim[] = []
  for (const claim of claims) {
    const found = find(claim.location)
    if ('reason' in found) rejected.push(rejectionOf(claim, context.lens, found.reason))
    else located.push({ claim, severity: claim.severity, ...found })
  }
  located.sort(worstFirst)
  for (const { claim } of located.splice(FINDINGS_PER_REVIEW_MAX)) {
    rejected.push(rejectionOf(claim, context.lens, 'over_limit'))
  }
  const origins = new Map(context.openFindings.map((open) => [open.fingerprint, open.originHead]))
  const occurrences = new Map<string, number>()
  const findings = located.map(({ claim, location, quote, meant }) => {
    const { rule, severity } = claim
    const identity = { lens: context.lens, rule, path: pathOf(location), quote: folded(clean(meant, claim)) }
    const firstFingerprint = fingerprintOf(identity)
    const occurrence = occurrences.get(firstFingerprint) ?? 0
    occurrences.set(firstFingerprint, occurrence + 1)
    const fingerprint = fingerprintOf(identity, occurrence)
    return {
      fingerprint,
      lens: context.lens,
      rule,
      severity,
      ...textsOf(claim, quote),
      location,
      fenced: claim.fenced ?? false,
      originHead: origins.get(fingerprint) ?? context.head,
    } satisfies Finding
  })
  return { findings, rejected }
}

interface LocatedClaim extends Pick<Finding, 'severity' | 'location'> {
  readonly claim: ClaimedFinding
  /** The lines at the place as they are in the file, not yet redacted. */
  readonly quote: string
  /** The lines that the claim meant, also where the place was clipped: a hunk's end is no part of an identity. */
  readonly meant: string
}

type Found = Omit<LocatedClaim, 'claim' | 'severity'> | { readonly reason: RejectedFinding['reason'] }

/** Looks a place up in the diff and the texts of one review; a file is taken apart once, however often it is claimed. */
function finderOf(context: GroundingContext): (location: ClaimedLocation) => Found {
  const files = new Map<string, FileChange>()
  for (const file of context.files) if (file.previousPath !== undefined) files.set(file.previousPath, file)
  for (const file of context.files) files.set(file.path, file)
  const sides = new Map<string, SideText>()

  const sideOf = (file: FileChange, side: Side): SideText => {
    const key = `${side} ${file.path}`
    const known = sides.get(key)
    if (known !== undefined) return known
    const text = sideTextOf(file, side, side === 'RIGHT' ? context.texts(file.path) : undefined)
    sides.set(key, text)
    return text
  }

  return (location) => {
    if (location.kind === 'pull_request') return { location, quote: '', meant: '' }
    const file = files.get(location.path)
    if (file === undefined) return { reason: 'path_not_in_diff' }
    if (location.kind === 'file') return { location: { kind: 'file', path: file.path }, quote: '', meant: '' }
    if (location.kind === 'lines') return linesOf(file, location, sideOf(file, location.side))
    if (folded(location.quote) === '') return { reason: 'quote_empty' }
    // A quote of new code is what is meant, unless it stands before the change only.
    for (const side of location.side === undefined ? (['RIGHT', 'LEFT'] as const) : [location.side]) {
      const [best] = candidatesOf(sideOf(file, side), location.quote, location.nearLine)
      if (best !== undefined) return linesOf(file, { ...best, side }, sideOf(file, side))
    }
    return { reason: 'quote_not_found' }
  }
}

/** A range that is known by number: clipped to one hunk where it touches the diff (A2), else to what the file has. */
function linesOf(
  file: FileChange,
  range: { readonly side: Side; readonly startLine: number; readonly line: number },
  text: SideText,
): Found {
  if (!Number.isSafeInteger(range.startLine) || !Number.isSafeInteger(range.line)) return { reason: 'line_not_in_file' }
  const first = Math.min(range.startLine, range.line)
  const last = Math.min(Math.max(range.startLine, range.line), text.lastLine)
  const anchor = anchorInDiff(file, range.side, first, last)
  const meant = linesBetween(text, first, last)
  const quote = anchor === undefined ? meant : linesBetween(text, anchor.startLine, anchor.line)
  if (quote === undefined) return { reason: 'line_not_in_file' }
  return {
    location: {
      kind: 'lines',
      path: file.path,
      side: range.side,
      startLine: anchor?.startLine ?? first,
      line: anchor?.line ?? last,
      inDiff: anchor !== undefined,
    },
    quote,
    meant: meant ?? quote,
  }
}

/** Undefined if there is no line, or if one of them isn't known. */
function linesBetween(text: SideText, first: number, last: number): string | undefined {
  const lines: string[] = []
  for (let number = first; number <= last; number++) {
    const line = text.lines.get(number)
    if (line === undefined) return undefined
    lines.push(line.text)
  }
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** What a finding's bytes are divided into: a title stays a line, a quote a passage; the rest is for what is said. */
const TITLE_BYTES_MAX = FINDING_BYTES_MAX / 32
const QUOTE_BYTES_MAX = FINDING_BYTES_MAX / 4
const CLEARS_BYTES_MAX = FINDING_BYTES_MAX / 4

/** The four texts of a finding, together at most `FINDING_BYTES_MAX` (RC8). */
function textsOf(claim: ClaimedFinding, quoted: string): Pick<Finding, 'title' | 'why' | 'clears' | 'quote' | 'cut'> {
  const title = cutAtBytes(folded(clean(claim.title, claim)), TITLE_BYTES_MAX)
  const quote = quoteOf(quoted, claim)
  const clears = cutAtBytes(clean(claim.clears, claim), CLEARS_BYTES_MAX)
  const left = FINDING_BYTES_MAX - byteLength(title.text) - byteLength(quote.text) - byteLength(clears.text)
  const why = cutAtBytes(clean(claim.why, claim), left)
  return {
    title: title.text,
    why: why.text,
    clears: clears.text,
    quote: quote.text,
    cut: title.cut || quote.cut || clears.cut || why.cut,
  }
}

/** Lines of a file as a finding quotes them. */
export function quoteOf(lines: string, claim: Concealing = {}): CutText {
  return cutAtBytes(clean(lines, claim), QUOTE_BYTES_MAX)
}

type Concealing = Pick<ClaimedFinding, 'conceal'>

/** Redacted before it is cut: half a secret has no shape that could be recognised. */
function clean(text: string, claim: Concealing): string {
  return withoutOwnMarkers(redact(withoutValues(visible(text), (claim.conceal ?? []).map(visible))))
}

function rejectionOf(claim: ClaimedFinding, lens: LensName, reason: RejectedFinding['reason']): RejectedFinding {
  return {
    lens,
    rule: claim.rule,
    title: cutAtBytes(folded(clean(claim.title, claim)), TITLE_BYTES_MAX).text,
    path: cutAtBytes(clean(pathOf(claim.location), claim), TITLE_BYTES_MAX).text,
    reason,
  }
}
