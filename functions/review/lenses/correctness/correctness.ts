/** The lens `correctness`: a model reads a part of the diff for faults, and quotes the code of each. */
import { Refused } from '../../../../shared/base/errors.ts'
import { MODEL_LINE_CHARS_MAX, PART_LINES_MAX } from '../../../../shared/base/limits.ts'
import type { Coverage } from '../../../../shared/findings/coverage.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { Finding } from '../../../../shared/findings/finding.ts'
import type { Lens } from '../../../../shared/findings/lens.ts'
import { clippedToPart } from '../../../../shared/verdict/partition.ts'
import { ask } from '../../models/ask.ts'
import { instructionLike } from './instruction-like.ts'
import { hasCutLine, INSTRUCTIONS, promptOf } from './prompt.ts'
import { claimsOf, replySchema } from './reply.ts'

/** Asks the model once for the whole part. A failed call is a failure of the lens, never "no findings". */
export const correctness: Lens = async (input) => {
  if (input.model === undefined) {
    throw new Refused(
      'model_not_configured',
      'the lens correctness has no model to ask',
      'Configure a model for this deployment, or set `lenses.correctness: off` in .github/muster.yml.',
    )
  }
  const parts = input.files.map((file) => ({ ...clippedToPart(file), whole: file }))
  const coverage = parts.map(({ cut, whole }) => coverageOf(whole, cut))
  const files = parts.map(({ file }) => file).filter((file) => file.hunks.length > 0)
  if (files.length === 0) return { findings: [], coverage }

  const { answer, usage } = await ask({
    model: input.model,
    instructions: INSTRUCTIONS,
    prompt: promptOf({
      pullRequest: input.pullRequest,
      files,
      openFindings: input.openFindings.filter((finding) => isAbout(finding, files)),
    }),
    schema: replySchema,
    signal: input.signal,
  })
  return { findings: [...claimsOf(answer), ...instructionLike(input.pullRequest, files)], coverage, usage }
}

function isAbout(finding: Finding, files: readonly FileChange[]): boolean {
  const { location } = finding
  return (
    finding.lens === 'correctness' &&
    location.kind !== 'pull_request' &&
    files.some((file) => file.path === location.path)
  )
}

function coverageOf(file: FileChange, cut: boolean): Coverage {
  const { path } = file
  if (file.noPatch === 'pure_rename') return { path, state: 'full' }
  if (file.noPatch !== undefined) return { path, state: 'not_read', reason: 'GitHub sent no readable diff for it.' }
  if (cut) return { path, state: 'partial', reason: `Only the first ${PART_LINES_MAX} lines of its diff were read.` }
  return hasCutLine(file)
    ? { path, state: 'partial', reason: `Of long lines only the first ${MODEL_LINE_CHARS_MAX} characters were read.` }
    : { path, state: 'full' }
}
