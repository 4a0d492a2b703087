/** I3: GitHub at rest shows the ledger's messages and resources. */
import { describe, test } from 'vitest'
import { expectBreach, observed } from './expect-breach.ts'
import {
  checkRun,
  goOn,
  HEAD,
  item,
  keys,
  NEWER,
  OURS,
  type Pull,
  reviewOn,
  type Synthetic,
  summary,
} from './synthetic.ts'

function ended() {
  const { world, observer } = observed('I3')
  goOn(world)
  return { world, observer }
}

const pull = (members: Partial<Pull>) => (world: Synthetic) => Object.assign(world.pull, members)
const message = (members: object) => (world: Synthetic) => world.change(...keys.message, { ...members })

describe('I3: at rest a message', () => {
  test.each<[string, (world: Synthetic) => unknown, RegExp]>([
    ['that is said stands on GitHub', pull({ reviews: [] }), /A message that is said does not stand/],
    [
      'stands on GitHub once',
      (world) => world.pull.reviews.push(reviewOn('COMMENTED', 32)),
      /A message that is said does not stand on GitHub once/,
    ],
    ['names its id on GitHub', message({ githubId: 99 }), /A message names another place/],
    [
      'has all of its comments',
      pull({ reviews: [{ ...reviewOn('COMMENTED', 31), comments: [] }] }),
      /A comment of a review is neither inline/,
    ],
    ['that was withdrawn stands nowhere', message({ state: 'withdrawn' }), /A message that was withdrawn stands/],
    ['that failed stands nowhere', message({ state: 'failed', reason: 'x' }), /A message that failed stands/],
    ['is not owed', message({ state: 'owed' }), /A message is owed at rest/],
    [
      'leaves no pending review behind',
      (world) => world.pull.reviews.push({ ...reviewOn('PENDING', 33), body: 'another' }),
      /A pending review of ours is left/,
    ],
    [
      'stands behind each review of ours',
      (world) => world.pull.reviews.push({ ...reviewOn('COMMENTED', 34), body: 'another' }),
      /A review of ours stands on GitHub that no message knows/,
    ],
  ])('%s', (_name, tamper, sentence) => {
    const { world, observer } = ended()
    tamper(world)
    expectBreach(observer.atRest, 'I3', sentence)
  })

  test('that failed belongs to a failed run', () => {
    const { world, observer } = ended()
    world.pull.reviews = []
    message({ state: 'failed', reason: 'post_failed' })(world)
    expectBreach(observer.atRest, 'I3', /A run counts as reviewed, and its message failed/)
  })

  test('of another person is not judged', () => {
    const { world, observer } = ended()
    world.pull.reviews.push({ ...reviewOn('COMMENTED', 35), author: { login: 'ana', type: 'User' } })
    observer.atRest()
  })
})

describe('I3: resources at rest', () => {
  const copies = [checkRun(), checkRun({ id: 42 })]
  const ownCopy = { ...summary(1), id: 52 }
  test.each<[string, (world: Synthetic) => unknown, RegExp]>([
    [
      'a resource is shown at its newest generation',
      (world) => world.change(...keys.shown, { generation_summary_main: 2 }),
      /A resource is not shown at its newest/,
    ],
    [
      'a head has one check run',
      pull({ checkRuns: [{ headSha: HEAD, runs: copies }] }),
      /A head has more than one check run/,
    ],
    [
      'the check run of an older head is completed',
      (world) =>
        world.pull.checkRuns.push({
          headSha: NEWER,
          runs: [checkRun({ headSha: NEWER, externalId: `muster:v1:7:1:${NEWER}`, status: 'in_progress' })],
        }),
      /A check run of ours is left in progress/,
    ],
    [
      'a check run shows the desired state',
      pull({ checkRuns: [{ headSha: HEAD, runs: [checkRun({ conclusion: 'success' })] }] }),
      /A check run does not show/,
    ],
    ['each head has its check run', pull({ checkRuns: [] }), /A head has no check run/],
    [
      'a pull request has one summary',
      (world) => world.pull.issueComments.push(ownCopy),
      /A pull request has more than one summary/,
    ],
    ['the summary is of its newest generation', pull({ issueComments: [summary(0)] }), /The summary is not of its/],
    [
      'the summary has the desired text',
      pull({ issueComments: [{ ...summary(1), body: summary(1).body.replace('All', 'No') }] }),
      /The summary says something else/,
    ],
    [
      'a pull request has one label of ours',
      (world) => world.pull.labels.push('muster: checking'),
      /A pull request has more than one of our/,
    ],
    ['the label is the desired label', pull({ labels: ['muster: checking'] }), /The label is not the one/],
  ])('%s', (_name, tamper, sentence) => {
    const { world, observer } = ended()
    tamper(world)
    expectBreach(observer.atRest, 'I3', sentence)
  })

  test('a second check run at a head may be closed as a copy', () => {
    const { world, observer } = ended()
    world.pull.checkRuns[0]?.runs.push(checkRun({ id: 42, title: 'Shown by another check run of Muster' }))
    observer.atRest()
  })

  test('messages and resources may wait under a halt', () => {
    const { world, observer } = observed('I3')
    goOn(world, 'concluded')
    world.put(item(keys.halts, { scopes: { 'repository/7': { why: 'x' } }, version: 1 }))
    world.executions.push({
      name: 'x',
      status: 'RUNNING',
      input: JSON.stringify({ runId: 'a'.repeat(64), attempt: 1 }),
    })
    observer.atRest()
    world.put(item(keys.halts, { scopes: {}, version: 2 }))
    expectBreach(observer.atRest, 'I3', /A message is owed at rest/)
  })

  test('a summary quoted by another person is not ours', () => {
    const { world, observer } = ended()
    world.pull.issueComments.push({ ...summary(1), id: 53, author: { login: 'ana', type: 'User' } })
    observer.atRest()
    world.pull.issueComments.push({ ...summary(1), id: 54, author: OURS })
    expectBreach(observer.atRest, 'I3', /A pull request has more than one summary/)
  })
})
