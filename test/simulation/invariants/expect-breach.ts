/** Helpers by which tests of invariants question an observer. */
import { expect } from 'vitest'
import { allInvariants } from './all.ts'
import type { InvariantId } from './broken.ts'
import { InvariantBroken, type Observer, openInvariants } from './observer.ts'
import { type Synthetic, syntheticWorld } from './synthetic.ts'

/**
 * A synthetic world with an observer of one invariant, because most faults break several; of all invariants if no id is
 * given.
 */
export function observed(id?: InvariantId): { world: Synthetic; observer: Observer } {
  const world = syntheticWorld()
  const invariants = id === undefined ? allInvariants : { [id]: allInvariants[id] }
  return { world, observer: openInvariants(world.view, invariants) }
}

/** Expects `look` to report a breach of the invariant with the given sentence. */
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
