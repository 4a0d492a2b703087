/** Nothing is lost, nothing is doubled, and nothing new begins under a halt. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { answer, goOn, item, keys, NEWER, RUN, reviewOn, run as runItem, type Synthetic, steps } from './synthetic.ts'

const run = (members: object) => (world: Synthetic) => world.change(...keys.run, { ...members })
const reason = { code: 'cancelled', sentence: 'Cancelled.' }
const execution = { name: 'x', status: 'SUCCEEDED', input: JSON.stringify({ runId: RUN, attempt: 1 }) } as const

describe('nothing is lost or doubled', () => {
  test.each<[string, (world: Synthetic) => void, RegExp]>([
    [
      'a live head is not superseded',
      run({ outcome: 'superseded', reason }),
      /A live head was accepted and is neither/,
    ],
    [
      'a live head is not answered by its edited description alone',
      (world) => {
        run({ outcome: 'superseded', reason })(world)
        const edited = { runId: 'edited', kind: 'analyzers', state: 'ended', outcome: 'reviewed' }
        world.put(item(['RUN#edited', 'RUN'], { ...runItem, ...edited, attempt: 1, deliveries: ['d2'], version: 1 }))
      },
      /A live head was accepted and is neither/,
    ],
    ['a live head has a run', run({ head: NEWER }), /A live head was accepted and is neither/],
    [
      'a run that an answer names exists',
      (world) => world.answers.push(answer({ run: 'x' }, 202, 'd9')),
      /A delivery was accepted, and its run/,
    ],
    [
      'a run is cancelled only by a person',
      run({ outcome: 'cancelled', reason }),
      /A run was cancelled that nobody cancelled/,
    ],
    [
      'an attempt is started once',
      (world) => world.executions.push(execution, { ...execution, name: 'y' }),
      /An attempt was started twice/,
    ],
    [
      'a review is said once',
      (world) => {
        world.pull.reviews.push(reviewOn('COMMENTED', 32))
        world.wrote({ kind: 'review_submitted', id: 32 })
      },
      /A review was said twice/,
    ],
  ])('%s', (_name, tamper, sentence) => {
    const { world, observer } = observed('whole')
    goOn(world)
    tamper(world)
    expectBreach(observer.atRest, 'whole', sentence)
  })

  test.each<[string, (world: Synthetic) => void]>([
    ['failed and says why', run({ outcome: 'failed', reason })],
    [
      'was cancelled by a person',
      (world) => {
        world.history.cancels.push({ repositoryId: 7, number: 1 })
        run({ outcome: 'cancelled', reason })(world)
      },
    ],
    [
      'is held',
      (world) => {
        world.put(item(keys.halts, { scopes: { fleet: {} }, version: 1 }))
        run({ state: 'held', outcome: undefined })(world)
      },
    ],
    [
      'ended with its pull request',
      (world) => {
        world.pull.state = 'closed'
        run({ outcome: 'closed', reason })(world)
      },
    ],
  ])('nothing is lost where a run %s', (_name, tamper) => {
    const { world, observer } = observed('whole')
    goOn(world)
    tamper(world)
    observer.atRest()
  })
})

describe('halts', () => {
  const halt = (world: Synthetic) => world.put(item(keys.halts, { scopes: { fleet: {} }, version: 1 }))

  test.each([
    ['claimed', 'accepted', steps.claimed],
    ['concluded', 'completed', steps.concluded],
  ] as const)('no run is %s under a halt, however soon', (_name, until, step) => {
    const { world, observer } = observed('halts')
    goOn(world, until)
    halt(world)
    step(world)
    expectBreach(observer.afterStep, 'halts', /A run was claimed or concluded under a halt/)
  })

  test.each([
    ['completed', 'leased', steps.completed, /A review was completed long after/],
    ['said', 'concluded', steps.said, /GitHub was written to long after/],
    ['shown', 'concluded', steps.shown, /GitHub was written to long after/],
  ] as const)('a step under way may be %s shortly after a halt, and no later', (_name, until, step, sentence) => {
    for (const lateMs of [10_000, 600_000]) {
      const { world, observer } = observed('halts')
      goOn(world, until)
      halt(world)
      world.now += lateMs
      step(world)
      if (lateMs === 10_000) observer.afterStep()
      else expectBreach(observer.afterStep, 'halts', sentence)
    }
  })

  test('under a halt replies go out, and leftovers are removed', () => {
    const { world, observer } = observed('halts')
    goOn(world, 'concluded')
    halt(world)
    world.now += 600_000
    world.wrote({ kind: 'comment_created', sent: { body: 'Halted.\n<!-- muster:v1 reply 12 -->' } })
    world.wrote({ kind: 'review_deleted' })
    observer.afterStep()
  })
})
