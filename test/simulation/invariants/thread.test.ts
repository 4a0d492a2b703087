/** I7: rounds, and the append-only record. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { goOn, item, keys, RUN } from './synthetic.ts'

describe('I7', () => {
  test('an entry is never changed', () => {
    const { world, observer } = observed('I7')
    goOn(world)
    world.change('PR#7#1', 'ENTRY#0000000000', { head: 'another' })
    expectBreach(observer.afterStep, 'I7', /An entry was changed/)
  })

  test('an entry is never deleted', () => {
    const { world, observer } = observed('I7')
    goOn(world)
    world.put({ pk: 'PR#7#1', sk: 'ENTRY#0000000001' })
    expectBreach(observer.afterStep, 'I7', /An entry was changed or deleted/)
  })

  test('the sequence has no gap', () => {
    const { world, observer } = observed('I7')
    goOn(world, 'claimed')
    world.put(item(['PR#7#1', 'ENTRY#0000000002'], { kind: 'checkpoint' }))
    expectBreach(observer.afterStep, 'I7', /The sequence of entries has a gap/)
  })

  test('the thread counts its entries', () => {
    const { world, observer } = observed('I7')
    goOn(world, 'claimed')
    world.change(...keys.thread, { nextSequence: 2, version: 2 })
    expectBreach(observer.afterStep, 'I7', /A thread and its entries/)
  })

  test('no verdict has a round beyond the ceiling', () => {
    const { world, observer } = observed('I7')
    goOn(world)
    const verdict = { kind: 'verdict', runId: RUN, round: 4, series: 1, conclusion: 'conclusion' }
    world.put(item(['PR#7#1', 'ENTRY#0000000002'], verdict))
    expectBreach(observer.afterStep, 'I7', /A verdict is of a round beyond/)
  })

  test.each([
    ['a round is not taken back', { round: 0, version: 4 }, /A round was skipped, or taken back/],
    ['a round is not skipped', { round: 3, version: 4 }, /A round was skipped/],
    ['a series is not taken back', { series: 0, version: 4 }, /A series was skipped/],
    ['a thread changes with its version', { head: 'x' }, /A thread changed without its version/],
  ])('%s', (_name, members, sentence) => {
    const { world, observer } = observed('I7')
    goOn(world)
    world.change(...keys.thread, members)
    expectBreach(observer.afterStep, 'I7', sentence)
  })

  test('a round counts exactly if its review is shown', () => {
    const { world, observer } = observed('I7')
    goOn(world)
    world.change(...keys.thread, { round: 2, version: 4 })
    expectBreach(observer.atRest, 'I7', /A thread counts other rounds/)
  })

  test('IL2: two reviews that were planned as the same round are two rounds', () => {
    const { world, observer } = observed('I7')
    goOn(world)
    const said = { repositoryId: 7, number: 1, runId: 'another', state: 'said', series: 1, round: 1 }
    world.put(item(['PR#7#1', 'MESSAGE#another#plan#review'], said))
    expectBreach(observer.atRest, 'I7', /A thread counts other rounds/)
  })
})
