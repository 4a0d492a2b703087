/**
 * The lens `secrets`: credentials in added lines, found by secretlint's recommended rules. Every found value is
 * concealed: no text of this lens holds it.
 */
import { lintSource } from '@secretlint/core'
import { rules as recommended } from '@secretlint/secretlint-rule-preset-recommend'
import { Dead, sentenceOf } from '../../../../shared/base/errors.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { ClaimedFinding } from '../../../../shared/findings/finding.ts'
import type { Lens } from '../../../../shared/findings/lens.ts'
import { fileByFile } from '../file-by-file.ts'
import { type RightSide, rightSideOf } from '../right-side.ts'

/**
 * Scans the text of each file after the change and keeps results that touch an added line: a key with a changed line is
 * found, and a key from before is not blamed on this pull request.
 */
export const secrets: Lens = (input) =>
  fileByFile(input, async (file) => {
    if (file.status === 'removed' || file.noPatch === 'pure_rename') return []
    const side = rightSideOf(file, await input.text(file.path))
    return side === undefined ? 'GitHub sent no readable diff for the file.' : claimsOf(file, side)
  })

const OWN_OPTIONS: Readonly<Record<string, { readonly options: object; readonly allowMessageIds: string[] }>> = {
  '@secretlint/secretlint-rule-aws': {
    options: { enableIDScanRule: true },
    // An account's number is no credential, and stands in many templates.
    allowMessageIds: ['AWSAccountID'],
  },
}

/**
 * Our own configuration, whatever the repository has (P8). The preset would ignore a disabled rule, so its rules are
 * taken one by one; a comment in a pull request must not switch off its own check.
 */
const CONFIG = {
  rules: recommended
    .filter((rule) => rule.meta.id !== '@secretlint/secretlint-rule-filter-comments')
    .map((rule) => ({ id: rule.meta.id, rule, ...OWN_OPTIONS[rule.meta.id] })),
}

async function claimsOf(file: FileChange, side: RightSide): Promise<readonly ClaimedFinding[]> {
  const starts = lineStartsOf(side.text)
  const claims: ClaimedFinding[] = []
  for (const { range, messageId } of await scan(file.path, side.text)) {
    // The range is the same for all line ends, unlike the line that a rule reports.
    const lines = linesOf(side, lineAt(starts, range[0]), lineAt(starts, Math.max(range[0], range[1] - 1)))
    const [startLine, line] = [lines[0], lines.at(-1)]
    if (startLine === undefined || line === undefined || !lines.some((number) => side.isAdded(number))) continue
    claims.push(claimOf(file.path, messageId, startLine, line, side.text.slice(range[0], range[1])))
  }
  return claims
}

async function scan(path: string, content: string) {
  try {
    const { messages } = await lintSource({
      // A rule may open the path, so the path names no file of this machine.
      source: { content, filePath: `pull-request:/${path}`, contentType: 'text' },
      options: { config: CONFIG, noPhysicFilePath: true },
    })
    return messages
  } catch (cause) {
    throw new Dead(
      'analyzer_failed',
      `secretlint failed on ${path}: ${sentenceOf(cause)}`,
      'Set `lenses.secrets: off` for now, and report the file that it failed on.',
      { cause },
    )
  }
}

function claimOf(path: string, messageId: string, startLine: number, line: number, value: string): ClaimedFinding {
  const rule = ruleOf(messageId)
  return {
    rule,
    severity: 'critical',
    fenced: true,
    title: `A credential is added: ${rule.replaceAll('-', ' ')}`,
    why: 'Anyone who can read the repository, a fork, a build log or a backup can use the credential. Removing the line does not help: the history keeps the credential.',
    clears:
      'Revoke the credential at its issuer first, then remove it from the branch’s history and read it from a secret store.',
    location: { kind: 'lines', path, side: 'RIGHT', startLine, line },
    conceal: concealedOf(value),
  }
}

/** `AWSAccessKeyID` → `aws-access-key-id`, `GITHUB_TOKEN` → `github-token`. */
function ruleOf(messageId: string): string {
  return messageId
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}

/** The value and each of its lines: grounding may clip the location to some lines. The label of a key is no secret. */
function concealedOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  return [...new Set([value, ...lines])].filter((line) => line !== '' && !/^-----[A-Z ]+-----$/.test(line))
}

/** Offsets of the first characters of all lines. */
function lineStartsOf(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Line (from 1) at an offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle
  }
  return low + 1
}

/** Lines of the file for a range of the scanned text; across a gap between hunks, the lines of the first hunk. */
function linesOf(side: RightSide, first: number, last: number): readonly number[] {
  const lines: number[] = []
  for (let textLine = first; textLine <= last; textLine++) {
    const line = side.lineOf(textLine)
    if (line === undefined) break
    lines.push(line)
  }
  return lines
}
