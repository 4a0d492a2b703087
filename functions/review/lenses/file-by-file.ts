/** Reads a part of the diff file by file, with a row of coverage for each file. */
import type { Coverage } from '../../../shared/findings/coverage.ts'
import type { FileChange } from '../../../shared/findings/diff.ts'
import type { ClaimedFinding } from '../../../shared/findings/finding.ts'
import type { LensInput, LensOutput } from '../../../shared/findings/lens.ts'

/** `read` resolves with the claims about a file, or with the reason why the file was not read. */
export async function fileByFile(
  { files, signal }: LensInput,
  read: (file: FileChange) => Promise<readonly ClaimedFinding[] | string>,
): Promise<LensOutput> {
  const findings: ClaimedFinding[] = []
  const coverage: Coverage[] = []
  for (const file of files) {
    signal.throwIfAborted()
    const claims = await read(file)
    if (typeof claims === 'string') coverage.push({ path: file.path, state: 'not_read', reason: claims })
    else {
      findings.push(...claims)
      coverage.push({ path: file.path, state: 'full' })
    }
  }
  return { findings, coverage }
}
