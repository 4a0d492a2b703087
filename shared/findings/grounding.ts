/**
 * Turns the claims of a lens into findings: each with an existing location, redacted, bounded, with an identity over
 * heads. A claim without a location is rejected and counted, never moved to a guessed line.
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
  /** The files given to the lens. */
  readonly files: readonly FileChange[]
  /** A file's text at the head; undefined if it was not fetched. */
  texts(path: string): string | undefined
  readonly head: string
  /** Open at the last verdict: the same finding keeps its first head (FI1). */
  readonly openFindings: readonly Finding[]
}

export interface Grounded {
  /** Worst first. */
  readonly findings: readonly Finding[]
  readonly rejected: readonly RejectedFinding[]
}

/**
 * Claims in = findings + rejected claims, each with a reason. At most `FINDINGS_PER_REVIEW_MAX` claims become findings,
 * the worst; the rest is rejected as `over_limit`.
 */
export function groundClaims(claims: readonly ClaimedFinding[], context: GroundingContext): Grounded {
  const locate = locatorOf(context)
  const rejected: RejectedFinding[] = []
  const claimed: LocatedClaim[] = []
  for (const claim of claims) {
    const located = locate(claim.location)
    if ('reason' in located) rejected.push(rejectionOf(claim, context.lens, located.reason))
    else claimed.push({ claim, severity: claim.severity, ...located })
  }
  claimed.sort(worstFirst)
  for (const { claim } of claimed.splice(FINDINGS_PER_REVIEW_MAX)) {
    rejected.push(rejectionOf(claim, context.lens, 'over_limit'))
  }
  const origins = new Map(context.openFindings.map((open) => [open.fingerprint, open.originHead]))
  const occurrences = new Map<string, number>()
  const findings = claimed.map(({ claim, location, quote, claimedLines }) => {
    const { rule, severity } = claim
    const identity = {
      lens: context.lens,
      rule,
      path: pathOf(location),
      quote: folded(redactedText(claimedLines, claim)),
    }
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
  /** The lines of the file at the location, not yet redacted. */
  readonly quote: string
  /** The claimed lines, also where the location was clipped: the end of a hunk is no part of an identity. */
  readonly claimedLines: string
}

type Located = Omit<LocatedClaim, 'claim' | 'severity'> | { readonly reason: RejectedFinding['reason'] }

/** Finds locations in the diff and texts of one review; a file is parsed once, however many claims it has. */
function locatorOf(context: GroundingContext): (location: ClaimedLocation) => Located {
  const files = new Map<string, FileChange>()
  for (const file of context.files) if (file.previousPath !== undefined) files.set(file.previousPath, file)
  for (const file of context.files) files.set(file.path, file)
  const sides = new Map<string, SideText>()

  const sideOf = (file: FileChange, side: Side): SideText => {
    const key = `${side} ${file.path}`
    const parsed = sides.get(key)
    if (parsed !== undefined) return parsed
    const text = sideTextOf(file, side, side === 'RIGHT' ? context.texts(file.path) : undefined)
    sides.set(key, text)
    return text
  }

  return (location) => {
    if (location.kind === 'pull_request') return { location, quote: '', claimedLines: '' }
    const file = files.get(location.path)
    if (file === undefined) return { reason: 'path_not_in_diff' }
    if (location.kind === 'file') return { location: { kind: 'file', path: file.path }, quote: '', claimedLines: '' }
    if (location.kind === 'lines') return linesOf(file, location, sideOf(file, location.side))
    if (folded(location.quote) === '') return { reason: 'quote_empty' }
    // A quote without a side is of new code, unless only the old code has it.
    for (const side of location.side === undefined ? (['RIGHT', 'LEFT'] as const) : [location.side]) {
      const [best] = candidatesOf(sideOf(file, side), location.quote, location.nearLine)
      if (best !== undefined) return linesOf(file, { ...best, side }, sideOf(file, side))
    }
    return { reason: 'quote_not_found' }
  }
}

/** A range of numbered lines: clipped to a hunk of the diff (A2), else to the lines of the file. */
function linesOf(
  file: FileChange,
  range: { readonly side: Side; readonly startLine: number; readonly line: number },
  text: SideText,
): Located {
  if (!Number.isSafeInteger(range.startLine) || !Number.isSafeInteger(range.line)) return { reason: 'line_not_in_file' }
  const first = Math.min(range.startLine, range.line)
  const last = Math.min(Math.max(range.startLine, range.line), text.lastLine)
  const anchor = anchorInDiff(file, range.side, first, last)
  const claimedLines = linesBetween(text, first, last)
  const quote = anchor === undefined ? claimedLines : linesBetween(text, anchor.startLine, anchor.line)
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
    claimedLines: claimedLines ?? quote,
  }
}

/** Undefined if a line is unknown, or the range is empty. */
function linesBetween(text: SideText, first: number, last: number): string | undefined {
  const lines: string[] = []
  for (let number = first; number <= last; number++) {
    const line = text.lines.get(number)
    if (line === undefined) return undefined
    lines.push(line.text)
  }
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** Shares of a finding's bytes: a title stays a line, a quote a passage; the reasons get the rest. */
const TITLE_BYTES_MAX = FINDING_BYTES_MAX / 32
const QUOTE_BYTES_MAX = FINDING_BYTES_MAX / 4
const CLEARS_BYTES_MAX = FINDING_BYTES_MAX / 4

/** The four texts of a finding, together at most `FINDING_BYTES_MAX` (RC8). */
function textsOf(claim: ClaimedFinding, quoted: string): Pick<Finding, 'title' | 'why' | 'clears' | 'quote' | 'cut'> {
  const title = cutAtBytes(folded(redactedText(claim.title, claim)), TITLE_BYTES_MAX)
  const quote = quoteOf(quoted, claim)
  const clears = cutAtBytes(redactedText(claim.clears, claim), CLEARS_BYTES_MAX)
  const left = FINDING_BYTES_MAX - byteLength(title.text) - byteLength(quote.text) - byteLength(clears.text)
  const why = cutAtBytes(redactedText(claim.why, claim), left)
  return {
    title: title.text,
    why: why.text,
    clears: clears.text,
    quote: quote.text,
    cut: title.cut || quote.cut || clears.cut || why.cut,
  }
}

/** Lines of a file in the form of a finding's quote. */
export function quoteOf(lines: string, claim: Concealing = {}): CutText {
  return cutAtBytes(redactedText(lines, claim), QUOTE_BYTES_MAX)
}

type Concealing = Pick<ClaimedFinding, 'conceal'>

/** Redacted before cutting: half a secret has no recognisable shape. */
function redactedText(text: string, claim: Concealing): string {
  return withoutOwnMarkers(redact(withoutValues(visible(text), (claim.conceal ?? []).map(visible))))
}

function rejectionOf(claim: ClaimedFinding, lens: LensName, reason: RejectedFinding['reason']): RejectedFinding {
  return {
    lens,
    rule: claim.rule,
    title: cutAtBytes(folded(redactedText(claim.title, claim)), TITLE_BYTES_MAX).text,
    path: cutAtBytes(redactedText(pathOf(claim.location), claim), TITLE_BYTES_MAX).text,
    reason,
  }
}
