/** Inputs of lenses for tests: files by their text before and after. */
import { type FileChange, fileChangeOf } from '../../../../shared/findings/diff.ts'
import type { LensInput, PullRequestFacts } from '../../../../shared/findings/lens.ts'

export const PULL_REQUEST: PullRequestFacts = {
  repository: 'acme/widgets',
  number: 42,
  title: 'Add widgets',
  body: '',
  bodyCut: false,
  author: 'octocat',
  head: 'a'.repeat(40),
  baseRef: 'main',
}

/** A new file of the given text. */
export function addedFile(path: string, text: string): FileChange {
  const lines = text.replace(/\n$/, '').split('\n')
  const patch = `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}`).join('\n')}`
  return fileChangeOf({ filename: path, status: 'added', additions: lines.length, deletions: 0, sha: 'b10b', patch })
}

/** A file with a patch, or without a patch. */
export function changedFile(path: string, patch: string | undefined, status = 'modified'): FileChange {
  return fileChangeOf({ filename: path, status, additions: 1, deletions: 1, sha: 'b10b', patch })
}

export function lensInput(
  files: readonly FileChange[],
  more: Partial<Omit<LensInput, 'text'>> & { texts?: Readonly<Record<string, string>> } = {},
): LensInput {
  const { texts = {}, ...rest } = more
  return {
    pullRequest: PULL_REQUEST,
    files,
    text: async (path) => texts[path],
    template: undefined,
    openFindings: [],
    model: undefined,
    signal: new AbortController().signal,
    ...rest,
  }
}
