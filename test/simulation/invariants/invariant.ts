/** An invariant as a watcher: told of changes, and asked after each step and at rest. */
import type { Judge } from './broken.ts'
import type { Change, Items } from './items.ts'
import type { View } from './view.ts'

/** Called for each change of an item, in the order of commits. The whole commit is in the table by then. */
export type Watch = { readonly [Kind in keyof Items]?: (change: Change<Items[Kind]>) => void }

export interface Invariant {
  readonly watch?: Watch
  /** Looks only at news since the last call. */
  readonly afterStep?: () => void
  /** Nothing is under way, and nothing more happens by itself. */
  readonly atRest?: () => void
}

export type OpenInvariant = (view: View, judge: Judge) => Invariant
