/** `.github/muster.yml`, read from the base branch: its shape, its defaults, and its validation. */
import type { LensName } from './lens.ts'

export interface Configuration {
  readonly lenses: Readonly<Record<LensName, 'active' | 'off'>>
  readonly models: {
    /** The model for model lenses; absent = the deployment's default. */
    readonly default?: string
  }
  readonly rounds: { readonly ceiling: number }
}

/** One thing that is wrong with the file; reported in the check run while the defaults apply. */
export interface ConfigurationProblem {
  readonly code: 'configuration_invalid' | 'configuration_unreadable'
  /** Path in the file, for example `lenses.secretz`; empty for the whole file. */
  readonly at: string
  /** A sentence that names the key and the nearest known one. */
  readonly message: string
}
