/** How far a lens has read a file, and why a file was left out. Pure. */

/** A lens's reading of a file. */
export interface Coverage {
  readonly path: string
  readonly state: 'full' | 'partial' | 'not_read'
  /** Why the file was not read in full, for people. */
  readonly reason?: string
}

/**
 * `patch_missing` and `over_budget` make the run incomplete, because the file was planned to be read; the other files
 * hold nothing to read, or are left out by default.
 */
export type LeftOutBecause = 'not_text' | 'pure_rename' | 'generated' | 'patch_missing' | 'over_budget'

export interface LeftOut {
  readonly path: string
  /** A sentence for people. */
  readonly reason: string
  readonly because: LeftOutBecause
}

/** True for a file with something to read that no model gets; analyzers read it. */
export function isLeftOutOfModels<File extends { readonly because?: LeftOutBecause }>(
  file: File,
): file is File & Pick<LeftOut, 'because'> {
  return file.because === 'generated' || isMissing(file)
}

/** True for a file that a model was to read and didn't get: the verdict is incomplete without it. */
export function isMissing({ because }: { readonly because?: LeftOutBecause }): boolean {
  return because === 'patch_missing' || because === 'over_budget'
}
