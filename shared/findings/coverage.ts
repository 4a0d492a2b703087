/** How far a lens has read a file, and why a file was left out. Pure. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'

/** A lens's reading of a file. */
export const coverageSchema = z.object({
  path: z.string(),
  state: z.enum(['full', 'partial', 'not_read']),
  /** Why the file was not read in full, for people. */
  reason: z.string().exactOptional(),
})
export type Coverage = Stored<typeof coverageSchema>

export const leftOutSchema = z.object({
  path: z.string(),
  /** A sentence for people. */
  reason: z.string(),
  /**
   * Why the file isn't read. `patch_missing` and `over_budget` are holes in what was planned, so the run is incomplete; the
   * others hold nothing to read, or are left out by default.
   */
  because: z.enum(['not_text', 'pure_rename', 'generated', 'patch_missing', 'over_budget']),
})
export type LeftOut = Stored<typeof leftOutSchema>
export type LeftOutBecause = LeftOut['because']

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
