/** The configuration as plans and conclusions store it. Few rooms need config.ts, which reads `.github/muster.yml`. */
import * as z from 'zod'
import type { Stored } from '../base/schema.ts'
import { LENS_NAMES } from '../findings/lens.ts'

/** A plan of an earlier deployment lacks newer lenses. */
export const configurationSchema = z.object({
  lenses: z.partialRecord(z.enum(LENS_NAMES), z.enum(['active', 'off'])),
  models: z.object({
    /** The model for model lenses; absent = the deployment's default. */
    default: z.string().exactOptional(),
  }),
  rounds: z.object({ ceiling: z.number() }),
})
export type Configuration = Stored<typeof configurationSchema>

/** A fault of the file; reported in the check run while the defaults apply. */
export const configurationProblemSchema = z.object({
  code: z.enum(['configuration_invalid', 'configuration_unreadable']),
  /** Path in the file, for example `lenses.secretz`; empty for the whole file. */
  at: z.string(),
  /** A sentence that names the key and the nearest known key. */
  message: z.string(),
})
export type ConfigurationProblem = Stored<typeof configurationProblemSchema>
