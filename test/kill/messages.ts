/** What the process under test tells the one that kills it. */

import type { Landmark } from './scenario.ts'
import type { SystemSnapshot } from './snapshot.ts'

export type ChildMessage =
  | { readonly kind: 'landmark'; readonly landmark: Landmark }
  /** The stack is up; `found` is what an earlier process had left under way. */
  | { readonly kind: 'found'; readonly found: string }
  /** Nothing is under way any more, or it didn't come to that in time: then `unrest` says what is. */
  | { readonly kind: 'ended'; readonly snapshot: SystemSnapshot; readonly unrest: readonly string[] }

/** What the child is told by its first argument, as JSON. */
export interface ChildOptions {
  readonly seed: number
  /** State that outlives the process. */
  readonly stateDirectory: string
  readonly cacheDirectory: string
  readonly gitDirectory: string
  /** What the functions print, of all processes of the round. */
  readonly logFile: string
  /** ms from its start until it gives up waiting for rest. */
  readonly restMsMax: number
}
