/** The observer of a simulated world: checks I1–I9 while the world goes on. */
import { allInvariants, type Invariants } from './all.ts'
import { type InvariantId, invariantIds, judgeOf } from './broken.ts'
import type { Invariant } from './invariant.ts'
import { type Change, type ItemKind, type Items, type Key, kindOf } from './items.ts'
import type { View } from './view.ts'

export { InvariantBroken, type InvariantId } from './broken.ts'
export type { View } from './view.ts'

export interface Observer {
  /**
   * Throws InvariantBroken for the first breach since the world began. The cost grows with the changes since the last
   * call.
   */
  afterStep(): void
  /** To be called when nothing is under way, faults have stopped, and rechecks are done. Throws InvariantBroken. */
  atRest(): void
  /** How often each invariant had something to look at; the object goes on counting. */
  readonly counts: Readonly<Record<InvariantId, number>>
}

/** Watches a world from its beginning. A commit is judged at once, and its breach is reported after the step. */
export function openInvariants(view: View, invariants: Invariants = allInvariants): Observer {
  const counts = Object.fromEntries(invariantIds.map((id) => [id, 0])) as Record<InvariantId, number>
  const opened = invariantIds.flatMap((id) => (invariants[id] ?? []).map((open) => open(view, judgeOf(id, counts))))
  const watching = watchersOf(opened)
  const stepping = opened.flatMap(({ afterStep }) => afterStep ?? [])
  let breach: { readonly cause: unknown } | undefined

  view.table.onCommit(({ changes }) => {
    for (const { key, before, after } of changes) {
      // A breach belongs to the step, not to the request that happened to show the breach: nothing is thrown here.
      try {
        const watchers = watching.get(kindOf(key as unknown as Key)) ?? []
        for (const watch of watchers) watch({ key, before, after } as unknown as Change<never>)
      } catch (cause) {
        breach ??= { cause }
      }
    }
  })

  function afterStep(): void {
    if (breach) throw breach.cause
    for (const look of stepping) look()
  }

  return {
    counts,
    afterStep,
    atRest() {
      afterStep()
      for (const { atRest } of opened) atRest?.()
    },
  }
}

function watchersOf(opened: readonly Invariant[]): ReadonlyMap<ItemKind, readonly ((change: Change<never>) => void)[]> {
  const watching = new Map<ItemKind, ((change: Change<never>) => void)[]>()
  for (const { watch = {} } of opened) {
    for (const [kind, look] of Object.entries(watch) as [keyof Items, (change: Change<never>) => void][]) {
      watching.set(kind, [...(watching.get(kind) ?? []), look])
    }
  }
  return watching
}
