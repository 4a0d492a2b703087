/** I5: everything ends, and nothing is left behind. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { goOn, item, keys, REVIEW_ID, RUN, type Synthetic, slot, steps, ticket } from './synthetic.ts'

function ended() {
  const { world, observer } = observed('I5')
  goOn(world)
  return { world, observer }
}

const running = {
  name: 'acme-widgets-pr1',
  status: 'RUNNING',
  input: JSON.stringify({ runId: RUN, attempt: 1 }),
} as const

describe('I5 at rest', () => {
  test.each<[string, (world: Synthetic) => void, RegExp]>([
    ['every run has ended', (world) => world.change(...keys.run, { state: 'running' }), /A run has not ended/],
    ['no run is held without a halt', (world) => world.change(...keys.run, { state: 'held' }), /A run has not ended/],
    [
      'an ended run has an outcome',
      (world) => world.change(...keys.run, { outcome: undefined }),
      /A run ended without an outcome/,
    ],
    [
      'an unreviewed run has a reason',
      (world) => world.change(...keys.run, { outcome: 'failed' }),
      /A run ended unreviewed without/,
    ],
    [
      'a reviewed run has a verdict',
      (world) => world.change(...keys.run, { verdict: undefined }),
      /A run was reviewed without/,
    ],
    ['no review is open', (world) => world.change(...keys.review, { state: 'leased' }), /A review is under way/],
    [
      'no ticket waits',
      (world) => {
        world.change(...keys.review, { state: 'waiting' })
        world.put(item(['QUEUE#7#lambda', '0'], ticket))
      },
      /A (ticket is left|review is under way)/,
    ],
    [
      'no ticket names an unknown review',
      (world) => world.put(item(keys.ticket, { ...ticket, reviewId: 'x/y/z/0' })),
      /A ticket is left/,
    ],
    ['no message stays due', (world) => world.change(...keys.message, { dueAt: 1 }), /Something is due for ever/],
    ['no slot is held', (world) => world.change(...keys.fleet, { slots: { [REVIEW_ID]: slot } }), /A slot is held/],
    ['the fleet rests', (world) => world.change(...keys.fleet, { dueAt: 1 }), /The fleet is due/],
    [
      'no marker stands for an empty queue',
      (world) => {
        steps.waits(world)
        world.change(...keys.review, { state: 'completed', token: undefined, dueAt: undefined })
        world.put(item(keys.ticket, {}))
      },
      /A marker stands for an empty queue/,
    ],
    ['no execution is open', (world) => world.executions.push(running), /An execution is open/],
    ['queues are empty', (world) => world.queues.inbox.push({ id: 'm', body: '{}' }), /A queue is not empty/],
    [
      'no message is a dead letter',
      (world) => world.queues.dead.push({ id: 'm', body: '{}' }),
      /A message became a dead/,
    ],
  ])('%s', (_name, tamper, sentence) => {
    const { world, observer } = ended()
    tamper(world)
    expectBreach(observer.atRest, 'I5', sentence)
  })

  test('a void ticket may remain after a late landing, until a hand-over deletes the ticket', () => {
    const { world, observer } = ended()
    world.put(item(keys.ticket, ticket))
    observer.atRest()
  })

  test.each([false, true])('a marker may remain after a late landing, with its void ticket: %s', (withTicket) => {
    const { world, observer } = ended()
    if (withTicket) world.put(item(keys.ticket, ticket))
    world.put(item(['FLEET#main', 'WAITING#7#lambda'], { nonce: 'n' }))
    observer.atRest()
  })

  test('a run may stay held under a standing halt, and a crash loop may leave a dead letter', () => {
    const { world, observer } = ended()
    world.put(item(keys.halts, { scopes: { fleet: { why: 'x' } }, version: 1 }))
    world.change(...keys.run, { state: 'held', reason: { code: 'halted', sentence: '' }, dueAt: 1 })
    world.queues.dead.push({ id: 'm', body: '{}' })
    world.history.crashLoop = true
    observer.atRest()
    world.put(item(keys.halts, { scopes: {}, version: 2 }))
    expectBreach(observer.atRest, 'I5', /A run has not ended/)
  })
})
