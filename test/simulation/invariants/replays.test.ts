/** I9: a repeated delivery changes nothing and gets the first answer. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { answer, goOn, keys, type Synthetic } from './synthetic.ts'

const run = (members: object) => (world: Synthetic) => world.change(...keys.run, { ...members })

describe('I9', () => {
  const replayed = { run: 'a'.repeat(64), attempt: 1 }
  test.each<[string, (world: Synthetic) => void, RegExp]>([
    [
      'is answered by the same run',
      (world) => world.answers.push(answer({ ...replayed, run: 'x' })),
      /A delivery that came again was answered otherwise/,
    ],
    [
      'is answered as a run',
      (world) => world.answers.push(answer({ reason: 'x' })),
      /A delivery that came again was answered otherwise/,
    ],
    ['is not refused', (world) => world.answers.push(answer({ error: {} }, 409)), /A delivery was accepted first/],
    [
      'is not answered by an earlier attempt',
      (world) => world.answers.push(answer({ ...replayed, attempt: 0 })),
      /A delivery that came again was answered by an earlier/,
    ],
    [
      'begins nothing anew',
      run({ attempt: 2, state: 'accepted', version: 9 }),
      /A run began anew without anything new/,
    ],
    ['is noted once', run({ deliveries: ['d1', 'd1'], version: 9 }), /A run noted a delivery that it knew/],
  ])('a repeated delivery %s', (_name, tamper, sentence) => {
    const { world, observer } = observed('I9')
    goOn(world)
    tamper(world)
    expectBreach(observer.afterStep, 'I9', sentence)
  })

  test('a new delivery begins a run anew, and a delivery that met a timeout may come again', () => {
    const { world, observer } = observed('I9')
    goOn(world)
    run({ attempt: 2, state: 'accepted', deliveries: ['d1', 'd2'], version: 9 })(world)
    world.answers.push(answer({}, 503), answer({ ...replayed, attempt: 2 }))
    observer.afterStep()
  })
})
