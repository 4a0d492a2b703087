/** How far a file was read, and why a file was not. Pure. */

/** How far one file was read by one lens. */
export interface Coverage {
  readonly path: string
  readonly state: 'full' | 'partial' | 'not_read'
  /** Why not fully, for people. */
  readonly reason?: string
}

/**
 * Why a file isn't read. `patch_missing` and `over_budget` are holes in what was planned, so the run is incomplete; the
 * others hold nothing to read, or are left out by default.
 */
export type LeftOutBecause = 'not_text' | 'pure_rename' | 'generated' | 'patch_missing' | 'over_budget'

export interface LeftOut {
  readonly path: string
  /** A sentence for people. */
  readonly reason: string
  readonly because: LeftOutBecause
}

/** True for what models are not given though there is something to read; an analyzer reads it. */
export function isLeftOutOfModels<File extends { readonly because?: LeftOutBecause }>(
  file: File,
): file is File & Pick<LeftOut, 'because'> {
  return file.because === 'generated' || isMissing(file)
}

/** True for what was to be read and couldn't be given to a model: a hole in the verdict. */
export function isMissing({ because }: { readonly because?: LeftOutBecause }): boolean {
  return because === 'patch_missing' || because === 'over_budget'
}
