/** The messages from the process under test to its killer. */

import type { Landmark } from './scenario.ts'
import type { SystemSnapshot } from './snapshot.ts'

export type ChildMessage =
  | { readonly kind: 'landmark'; readonly landmark: Landmark }
  /** The stack is up; `found` is the unfinished work of an earlier process. */
  | { readonly kind: 'found'; readonly found: string }
  /** The system is at rest; at the time limit `unrest` names the unfinished work. */
  | { readonly kind: 'ended'; readonly snapshot: SystemSnapshot; readonly unrest: readonly string[] }

/** The child's first argument, as JSON. */
export interface ChildOptions {
  readonly seed: number
  /** State that outlives the process. */
  readonly stateDirectory: string
  readonly cacheDirectory: string
  readonly gitDirectory: string
  /** The output of the functions, of all processes of the round. */
  readonly logFile: string
  /** ms from the start until the wait for rest is given up. */
  readonly restMsMax: number
}
