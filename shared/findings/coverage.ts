/** How far a file was read, and why a file was not. Pure. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'

/** How far one file was read by one lens. */
export const coverageSchema = z.object({
  path: z.string(),
  state: z.enum(['full', 'partial', 'not_read']),
  /** Why not fully, for people. */
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

/** True for what models are not given though there is something to read; an analyzer reads it. */
export function isLeftOutOfModels<File extends { readonly because?: LeftOutBecause }>(
  file: File,
): file is File & Pick<LeftOut, 'because'> {
  return file.because === 'generated' || isHole(file)
}

/** True for what was to be read and couldn't be given to a model: a hole in the verdict. */
export function isHole({ because }: { readonly because?: LeftOutBecause }): boolean {
  return because === 'patch_missing' || because === 'over_budget'
}
