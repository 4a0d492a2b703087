/** What tests of invariants ask of an observer. */
import { expect } from 'vitest'
import { allInvariants } from './all.ts'
import type { InvariantId } from './broken.ts'
import { InvariantBroken, type Observer, openInvariants } from './observer.ts'
import { type Synthetic, syntheticWorld } from './synthetic.ts'

/** A world by hand with an observer of one invariant, as what is wrong mostly breaks several; of all if none is named. */
export function observed(id?: InvariantId): { world: Synthetic; observer: Observer } {
  const world = syntheticWorld()
  const invariants = id === undefined ? allInvariants : { [id]: allInvariants[id] }
  return { world, observer: openInvariants(world.view, invariants) }
}

/** `look` finds this invariant broken, and says so in these words. */
export function expectBreach(look: () => void, id: InvariantId, sentence: RegExp): void {
  let found: unknown
  try {
    look()
  } catch (error) {
    found = error
  }
  expect(found).toBeInstanceOf(InvariantBroken)
  const { id: foundId, sentence: foundSentence } = found as InvariantBroken
  expect(`${foundId}: ${foundSentence}`).toMatch(new RegExp(`^${id}: ${sentence.source}`))
}
