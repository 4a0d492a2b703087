/** A history without faults breaks no invariant, at any step and at rest. Only the world's clock is read. */
import { expect, test } from 'vitest'
import { allInvariants } from './all.ts'
import type { InvariantId } from './broken.ts'
import { observed } from './expect-breach.ts'
import { goOn, type Step, steps } from './synthetic.ts'

test('a run without faults keeps every invariant at every step', () => {
  const { world, observer } = observed()
  for (const step of Object.keys(steps) as Step[]) {
    goOn(world, step, step)
    observer.afterStep()
  }
  observer.atRest()
})

test('each invariant has something to look at', () => {
  const { world, observer } = observed()
  goOn(world)
  observer.atRest()
  const idle = Object.keys(allInvariants).filter((id) => observer.counts[id as InvariantId] === 0)
  expect(idle).toEqual([])
})

test('an unknown item is reported as an error, and as a breach of no invariant', () => {
  const { world, observer } = observed()
  world.put({ pk: 'ELSE#1', sk: 'ELSE', member: 1 })
  expect(() => observer.afterStep()).toThrow('an item of no known kind: ELSE#1 ELSE')
})
