/** I4: an older head is silent after the first message of a newer head. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { HEAD, NEWER, RUN, type Synthetic } from './synthetic.ts'

/** A message of the older head stands, then the first message of the newer head. */
function spoken() {
  const { world, observer } = observed('I4')
  world.wrote({ kind: 'review_submitted', head: HEAD })
  world.pull.heads.push(NEWER)
  world.now += 60_000
  world.wrote({ kind: 'review_submitted', head: NEWER })
  observer.afterStep()
  return { world, observer }
}

const summary = { sent: { body: `<!-- muster:v1 data {"run":"${RUN}","head":"${HEAD}"} -->` }, head: undefined }
const checkRun = { number: undefined, pull: undefined, head: HEAD }

describe('I4: after the first message of a newer head', () => {
  test.each<[string, (world: Synthetic) => void]>([
    ['a review', (world) => world.wrote({ kind: 'review_submitted', head: HEAD })],
    ['a pending review', (world) => world.wrote({ kind: 'review_created', head: HEAD })],
    ['a summary', (world) => world.wrote({ kind: 'comment_changed', ...summary })],
    [
      'a check run in progress',
      (world) => world.wrote({ kind: 'check_run_created', ...checkRun, sent: { status: 'in_progress' } }),
    ],
  ])('%s of the older head is a breach, unless under way before', (_name, write) => {
    const { world, observer } = spoken()
    world.now += 5_000
    write(world)
    observer.afterStep()
    world.now += 600_000
    write(world)
    expectBreach(observer.afterStep, 'I4', /Something of an older head followed/)
  })

  test('the older check run may be closed, and the newer head goes on', () => {
    const { world, observer } = spoken()
    world.now += 600_000
    world.wrote({ kind: 'check_run_changed', ...checkRun, sent: { status: 'completed' } })
    world.wrote({ kind: 'review_submitted', head: NEWER })
    world.wrote({ kind: 'label_added', head: undefined })
    observer.afterStep()
  })

  test('the older head may come back by a forced push', () => {
    const { world, observer } = spoken()
    world.pull.heads.push(HEAD)
    world.now += 600_000
    world.wrote({ kind: 'review_submitted', head: HEAD })
    observer.afterStep()
    world.now += 600_000
    world.wrote({ kind: 'review_submitted', head: NEWER })
    expectBreach(observer.afterStep, 'I4', /Something of an older head followed/)
  })
})
