/** The review: a short body with the next step, and an inline comment for each new finding with lines in the diff. */
import {
  FINDING_BYTES_MAX,
  FINDINGS_NAMED_IN_BODY_MAX,
  GITHUB_BODY_BYTES_MAX,
  INLINE_COMMENTS_MAX,
} from '../../../shared/base/limits.ts'
import { byteLength, capitalized } from '../../../shared/base/text.ts'
import type { Finding } from '../../../shared/findings/finding.ts'
import { type InlineComment, markerOf, type ReviewMessage } from '../../../shared/publishing/github-payloads.ts'
import { unannounced } from '../../../shared/verdict/announced-findings.ts'
import type { Conclusion } from '../../../shared/verdict/conclusion.ts'
import { commentText, namedLine } from './finding-text.ts'
import { shortSha } from './markdown.ts'
import { actionOf, closingOf, countsOf, countsSentence, headlineOf, roundWords } from './wording.ts'

export interface ReviewOptions {
  /** True if the configuration lets Muster request changes; false for a comment. */
  readonly requestChanges: boolean
  /** The attempt that adds to the first review of the plan key; absent for the first review. */
  readonly supplement?: number | undefined
}

/** Findings that an earlier review has announced get no new comment (D9). */
export function reviewMessageOf(conclusion: Conclusion, options: ReviewOptions): ReviewMessage {
  const { requestChanges, supplement } = options
  const fresh = unannounced(conclusion)
  const anchored = fresh.filter(isAnchored).slice(0, INLINE_COMMENTS_MAX)
  const marker = markerOf.review(conclusion.runId, conclusion.planKey, supplement)
  return {
    kind: 'review',
    marker,
    head: conclusion.head,
    event: requestChanges && conclusion.verdict === 'changes_requested' ? 'REQUEST_CHANGES' : 'COMMENT',
    body: bodyOf(conclusion, anchored, marker),
    comments: anchored.map(commentOf),
  }
}

type Anchored = Finding & { readonly location: Extract<Finding['location'], { kind: 'lines' }> }

function isAnchored(finding: Finding): finding is Anchored {
  return finding.location.kind === 'lines' && finding.location.inDiff
}

function bodyOf(conclusion: Conclusion, anchored: readonly Finding[], marker: string): string {
  const headline = headlineOf(conclusion)
  const commented = new Set(anchored.map(({ fingerprint }) => fingerprint))
  const elsewhere = conclusion.findings
    .map((finding, index) => ({ finding, number: index + 1 }))
    .filter(({ finding }) => !commented.has(finding.fingerprint))
  const named = elsewhere.slice(0, FINDINGS_NAMED_IN_BODY_MAX).map(({ finding, number }) => namedLine(finding, number))
  const more = elsewhere.length - named.length
  return [
    `**Muster: ${headline}.** ${actionOf(conclusion)}`,
    '',
    `${capitalized(countsSentence(countsOf(conclusion.findings)))} at ${shortSha(conclusion.head)}, ${roundWords(conclusion)}.`,
    ...(elsewhere.length === 0
      ? []
      : ['', `In the summary, without an inline comment here (${elsewhere.length}):`, '', ...named]),
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
    closingOf(conclusion),
    '',
    marker,
  ].join('\n')
}

function commentOf(finding: Anchored): InlineComment {
  const { path, side, startLine, line } = finding.location
  const marker = markerOf.finding(finding.fingerprint)
  return { path, side, line, ...(startLine < line ? { startLine } : {}), body: commentBody(finding, marker) }
}

/** Escapes can make a body too long for GitHub: then the reasons are cut until the body fits. */
function commentBody(finding: Finding, marker: string): string {
  for (let textBytesMax = FINDING_BYTES_MAX; ; textBytesMax = Math.floor(textBytesMax / 2)) {
    const body = `${commentText(finding, textBytesMax)}\n${marker}`
    if (byteLength(body) <= GITHUB_BODY_BYTES_MAX) return body
  }
}
