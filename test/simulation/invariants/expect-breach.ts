/** What tests of invariants ask of an observer. */
import { expect } from 'vitest'
import type { InvariantId } from './broken.ts'
import { InvariantBroken, type Observer, openInvariants } from './observer.ts'
import { type Synthetic, syntheticWorld } from './synthetic.ts'

/** A world by hand with an observer of all invariants. */
export function observed(): { world: Synthetic; observer: Observer } {
  const world = syntheticWorld()
  return { world, observer: openInvariants(world.view) }
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
