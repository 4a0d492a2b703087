/** An invariant as a watcher: told of what changes, asked after each step and when everything is at rest. */
import type { Judge } from './broken.ts'
import type { Change, Items } from './items.ts'
import type { View } from './view.ts'

/** Told of each change of items of a kind, in the order of commits; all of a commit are in the table by then. */
export type Watch = { readonly [Kind in keyof Items]?: (change: Change<Items[Kind]>) => void }

export interface Invariant {
  readonly watch?: Watch
  /** Looks only at what came since it was asked last. */
  readonly afterStep?: () => void
  /** Nothing is under way, and nothing more happens by itself. */
  readonly atRest?: () => void
}

export type OpenInvariant = (view: View, judge: Judge) => Invariant
