/** The diff of a pull request, file by file, with the line numbers of both sides. */

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'removed'
  /** Without the leading sign and without the line feed; a carriage return stays. */
  readonly text: string
  /** Line number before the change; absent for added lines. */
  readonly oldLine?: number
  /** Line number after the change; absent for removed lines. */
  readonly newLine?: number
  /** True if the file ends here without a line feed (H15). */
  readonly noNewline?: true
}

export interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly DiffLine[]
}

export interface FileChange {
  readonly path: string
  /** The path before a rename or copy (H12). */
  readonly previousPath?: string
  readonly status: 'added' | 'modified' | 'removed' | 'renamed' | 'copied' | 'changed' | 'unchanged'
  readonly additions: number
  readonly deletions: number
  /** Blob at the head, or at the base for a removed file. */
  readonly blob: string
  /** Empty where GitHub sends no patch. */
  readonly hunks: readonly Hunk[]
  /** Why there are no hunks to read: an absent patch is normal (H11). */
  readonly noPatch?: 'no_patch' | 'pure_rename' | 'unreadable_patch'
}
