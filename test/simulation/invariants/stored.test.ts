/** I8: a stale fence changes nothing, ended items stay, and no secret is stored or posted. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import { goOn, item, keys, REVIEW_ID, type Step, type Synthetic, slot } from './synthetic.ts'

type Breach = readonly [name: string, until: Step, tamper: (world: Synthetic) => void, sentence: RegExp]
const review = (members: object) => (world: Synthetic) => world.change(...keys.review, { ...members })
const run = (members: object) => (world: Synthetic) => world.change(...keys.run, { ...members })
const message = (members: object) => (world: Synthetic) => world.change(...keys.message, { ...members })
const fleet = (members: object) => (world: Synthetic) => world.change(...keys.fleet, { ...members })
const shown = (members: object) => (world: Synthetic) => world.change(...keys.shown, { ...members })
const gone =
  ([pk, sk]: readonly [string, string]) =>
  (world: Synthetic) =>
    world.put({ pk, sk })

function breaches(table: readonly Breach[]): void {
  test.each(table)('%s', (_name, until, tamper, sentence) => {
    const { world, observer } = observed('I8')
    goOn(world, until)
    observer.afterStep()
    tamper(world)
    expectBreach(observer.afterStep, 'I8', sentence)
  })
}

describe('I8: a review', () => {
  breaches([
    ['is not deleted', 'ended', gone(keys.review), /A review was deleted/],
    ['keeps its epoch or raises it', 'leased', review({ epoch: 0 }), /An epoch was lowered/],
    [
      'raises its epoch by one',
      'leased',
      review({ epoch: 3, state: 'waiting', owner: undefined }),
      /An epoch was lowered, or skip/,
    ],
    [
      'is not completed without a grant',
      'waits',
      review({ state: 'completed' }),
      /A review went from waiting to compl/,
    ],
    [
      'is not leased before it is granted',
      'waits',
      review({ state: 'leased', owner: 'w' }),
      /A review went from waiting to leased/,
    ],
    ['stays with its owner', 'leased', review({ owner: 'w2' }), /A lease went over to another/],
    [
      'has no owner after a take-back',
      'leased',
      review({ epoch: 2, state: 'waiting' }),
      /A review was taken back and has its/,
    ],
    ...(
      [
        ['leased in its own name', 'granted', { state: 'leased', owner: 'w1' }],
        ['renewed by its holder', 'leased', { until: 10 }],
        ['completed by its holder', 'leased', { state: 'completed', result: 'result', until: undefined }],
        ['given back by its holder', 'leased', { state: 'planned', epoch: 2, owner: undefined, until: undefined }],
      ] as const
    ).map(
      ([what, until, members]): Breach => [
        `is ${what}, and by no other invocation`,
        until,
        (world) => {
          world.invocation = 'w2'
          review(members)(world)
        },
        /A lease was used by another than its holder/,
      ],
    ),
    ['has an owner while leased', 'granted', review({ state: 'leased' }), /A lease is nobody/],
    ['keeps its result', 'ended', review({ result: 'another' }), /What a review came to was changed/],
    [
      'is not taken back once completed',
      'ended',
      review({ epoch: 2, state: 'waiting', owner: undefined }),
      /A review went from completed/,
    ],
    [
      'is not begun anew once completed',
      'ended',
      review({ attempt: 2, epoch: 2, state: 'waiting', owner: undefined }),
      /A completed review was begun/,
    ],
    [
      'is at a new epoch in a new attempt',
      'leased',
      review({ attempt: 2, state: 'waiting', owner: undefined }),
      /A review began another attempt at the same/,
    ],
    [
      'never goes back to an earlier attempt',
      'leased',
      review({ attempt: 0 }),
      /A review went back to an earlier attempt/,
    ],
    ['begins waiting', 'claimed', review({ state: 'leased', epoch: 1 }), /A review began other than waiting/],
  ])

  test('may be taken back, wait, and end', () => {
    const { world, observer } = observed('I8')
    goOn(world, 'leased')
    review({ epoch: 2, state: 'waiting', owner: undefined, losses: 1 })(world)
    review({ state: 'granted' })(world)
    review({ epoch: 3, state: 'planned' })(world)
    review({ state: 'waiting', token: 'u' })(world)
    review({ epoch: 4, state: 'ended' })(world)
    review({ token: undefined })(world)
    review({ epoch: 5, state: 'waiting', attempt: 2 })(world)
    observer.afterStep()
  })
})

describe('I8: a run', () => {
  breaches([
    ['is not deleted', 'ended', gone(keys.run), /A run was deleted/],
    ['changes only with its version', 'claimed', run({ state: 'ending' }), /A run changed without its version/],
    ['stays ended', 'ended', run({ state: 'running', version: 9 }), /A run changed after it had ended/],
    ['goes on within its attempt', 'concluded', run({ state: 'running', version: 9 }), /A run went back within/],
    [
      'is over before its next attempt',
      'claimed',
      run({ state: 'accepted', attempt: 2, version: 9 }),
      /A run began another attempt before/,
    ],
    ['skips no attempt', 'ended', run({ state: 'accepted', attempt: 3, version: 9 }), /An attempt was skipped/],
    [
      'begins each attempt accepted',
      'ended',
      run({ state: 'running', attempt: 2, version: 9 }),
      /An attempt began other than/,
    ],
    ['keeps its conclusion', 'concluded', run({ conclusion: undefined, version: 9 }), /A conclusion was lost/],
  ])

  test('may be moved on by the sweeper without a new version', () => {
    const { world, observer } = observed('I8')
    goOn(world, 'claimed')
    run({ dueAt: 99 })(world)
    observer.afterStep()
  })
})

describe('I8: a message', () => {
  breaches([
    ['that is said stays said', 'said', message({ state: 'owed' }), /A message went from said to owed/],
    [
      'that is said stays said in another attempt',
      'said',
      message({ state: 'owed', attempt: 2 }),
      /A message went from said/,
    ],
    [
      'is withdrawn by an ending only',
      'concluded',
      message({ state: 'withdrawn' }),
      /A message went from owed to withdrawn/,
    ],
    ['keeps its document', 'concluded', message({ document: 'another' }), /What a message says was changed/],
    ['has an id on GitHub once said', 'concluded', message({ state: 'said' }), /A message is said nowhere/],
    ['is not deleted', 'concluded', gone(keys.message), /A message was deleted/],
  ])
})

describe('I8: fleet, resources, events and halts', () => {
  const event = (state: string) => item(['PR#7#1', 'EVENT#closed:1'], { state })
  breaches([
    ['a version is not lowered', 'ended', fleet({ version: 0 }), /The version of the fleet was lowered/],
    [
      'limits change with the version',
      'ended',
      fleet({ limits: { configured: 9, enabled: true } }),
      /Rules of the fleet changed/,
    ],
    [
      'pools close with the version',
      'ended',
      fleet({ closed: { lambda: { until: 3 } } }),
      /Rules of the fleet changed/,
    ],
    ['grants are counted', 'ended', fleet({ granted: 0 }), /The count of grants was lowered/],
    ['the fleet is not deleted', 'ended', gone(keys.fleet), /The fleet was deleted/],
    ['a generation is not lowered', 'ended', shown({ generation_summary_main: 0 }), /A generation was lowered/],
    [
      'an older generation is not shown after a newer generation',
      'ended',
      shown({ shown_summary_main: { generation: 0 } }),
      /An older generation counts/,
    ],
    [
      'a generation is shown only after it was desired',
      'ended',
      shown({ shown_summary_main: { generation: 7 } }),
      /A generation counts as shown/,
    ],
    ['the version of resources is not lowered', 'ended', shown({ version: 0 }), /Resources were taken back/],
    [
      'an event stays done',
      'accepted',
      (world) => {
        world.put(event('done'))
        world.put(event('open'))
      },
      /An event that was done is open again/,
    ],
    [
      'halts change with their version',
      'accepted',
      (world) => {
        world.put(item(keys.halts, { scopes: { fleet: {} }, version: 1 }))
        world.put(item(keys.halts, { scopes: {}, version: 1 }))
      },
      /Halts changed without their version/,
    ],
  ])

  test('a slot is released, and a probe is named, without a new version', () => {
    const { world, observer } = observed('I8')
    goOn(world, 'granted')
    fleet({ slots: {}, closed: { lambda: { until: 3 } }, version: 2 })(world)
    const probe = { reviewId: REVIEW_ID, epoch: 1 }
    fleet({ slots: { [REVIEW_ID]: slot }, closed: { lambda: { until: 3, probe } }, granted: 2 })(world)
    observer.afterStep()
  })
})

describe('I8: a planted secret', () => {
  const SECRET = `ghp_${'s'.repeat(36)}`
  test.each<[string, (world: Synthetic) => void]>([
    ['an item', (world) => world.put(item(keys.halts, { scopes: {}, why: SECRET, version: 1 }))],
    ['a result', (world) => world.documents.set('result', SECRET)],
    ['a desired summary', (world) => world.documents.set('summary', SECRET)],
    ['GitHub', (world) => world.wrote({ kind: 'comment_created', sent: { body: SECRET } })],
    ['a log', (world) => world.logs.push(`said ${SECRET}`)],
  ])('is not in %s', (_name, tamper) => {
    const { world, observer } = observed('I8')
    world.history.canaries.push(SECRET)
    goOn(world)
    tamper(world)
    expectBreach(observer.atRest, 'I8', /A planted secret got out/)
  })

  test('may be in the plan, because a plan holds the diff', () => {
    const { world, observer } = observed('I8')
    world.history.canaries.push(SECRET)
    goOn(world)
    world.documents.set('plan', SECRET)
    observer.atRest()
  })
})
