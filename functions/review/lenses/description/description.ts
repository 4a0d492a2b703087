/** The lens `description`: whether the description has the sections of the base branch's template. */
import type { ClaimedFinding } from '../../../../shared/findings/finding.ts'
import type { Lens, PullRequestFacts } from '../../../../shared/findings/lens.ts'
import { type Section, sectionsOf } from './sections.ts'

/**
 * At most one finding, for the pull request as a whole, with a list of exactly the missing sections (PR6). Its identity
 * is independent of the list, so that an edit updates the same finding.
 */
export const description: Lens = async (input) => {
  input.signal.throwIfAborted()
  const missing = input.template === undefined ? [] : missingSections(input.template, input.pullRequest.body)
  return {
    findings: missing.length === 0 ? [] : [claimOf(missing, input.pullRequest)],
    coverage: input.files.map((file) => ({ path: file.path, state: 'full' })),
  }
}

/**
 * Headings of the template, as written there, whose section the body lacks or leaves as the template has it. A section
 * is not required if its heading says "optional", or if it only groups other sections.
 */
export function missingSections(template: string, body: string): readonly string[] {
  const written = new Map<string, Section[]>()
  for (const section of sectionsOf(body, { bold: true })) {
    written.set(section.key, [...(written.get(section.key) ?? []), section])
  }
  const missing = new Map<string, string>()
  for (const required of sectionsOf(template)) {
    if (required.onlySections || OPTIONAL.test(required.heading)) continue
    const placeholders = new Set(required.lines)
    const filled = (written.get(required.key) ?? []).some((section) =>
      section.lines.some((line) => !placeholders.has(line) && hasContent(line)),
    )
    if (!filled && !missing.has(required.key)) missing.set(required.key, required.heading)
  }
  return [...missing.values()]
}

const OPTIONAL = /\boptional\b/i

/** A bullet without a text, an empty check box or a rule says nothing. */
function hasContent(line: string): boolean {
  return line.replace(/^(?:[-*+]|\d+[.)])\s*(?:\[[ x]?\])?/i, '').match(/[\p{L}\p{N}\p{S}!]/u) !== null
}

function claimOf(missing: readonly string[], pullRequest: PullRequestFacts): ClaimedFinding {
  const names = missing.map((heading) => `“${heading}”`).join(', ')
  const cut = pullRequest.bodyCut ? ' The description was read up to its size limit only.' : ''
  return {
    rule: 'missing-sections',
    severity: 'low',
    title: `The description lacks ${names}`,
    why: `The pull request template of the base branch asks for this text, and reviewers rely on it.${cut}`,
    clears: `Write something of your own under ${names}. An edit is enough; no push is needed.`,
    location: { kind: 'pull_request' },
  }
}
