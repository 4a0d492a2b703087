/** The simulated machine and the embedded machine act alike, call for call and ms for ms, whatever the rooms answer. */
import { describe, expect, test } from 'vitest'
import { playEmbedded, playSimulated } from './machine-engines.ts'
import { type Answer, completed, granted, planned, type Script, shown } from './machine-rooms.ts'

const throws = (...errors: string[]): Answer[] => errors.map((error) => ({ throws: error }))
const returns = (outcome: string): Answer => ({ returns: { outcome } })
const answers = (outcome: string): Answer => ({ token: { outcome } })
const times = (count: number, answer: Answer): Answer[] => new Array(count).fill(answer)
const many = { reviews: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], ceiling: 3 }

const scripts: readonly (readonly [string, Script, string])[] = [
  ['nothing special', {}, 'SUCCEEDED'],
  ['a plan that is shown', { plan: [returns('shown')] }, 'SUCCEEDED'],
  ['a plan that is superseded', { plan: [returns('superseded')] }, 'SUCCEEDED'],
  ['a plan that is held', { plan: [returns('held')] }, 'SUCCEEDED'],
  ['a plan that has failed', { plan: [returns('failed')] }, 'FAILED'],
  ['a plan without an answer', { plan: [{ returns: null }] }, 'FAILED'],
  [
    'a plan from an earlier call',
    { plan: [planned({ outcome: 'replay' })], admit: [answers('completed')] },
    'SUCCEEDED',
  ],
  ['a plan without reviews', { plan: [planned({ reviews: [] })] }, 'SUCCEEDED'],
  ['a head that is not visible yet', { plan: [...times(5, { throws: 'retry' }), planned()] }, 'SUCCEEDED'],
  ['a head that is visible after all retries', { plan: [...times(12, { throws: 'retry' }), planned()] }, 'SUCCEEDED'],
  ['a plan that waits for GitHub', { plan: [...times(3, returns('wait')), planned()] }, 'SUCCEEDED'],
  ['a plan that crashes twice', { plan: [...throws('Lambda.Unknown', 'Runtime.ExitError'), planned()] }, 'SUCCEEDED'],
  ['a plan that crashes three times', { plan: throws('Lambda.Unknown') }, 'FAILED'],
  ['a plan that is dead', { plan: throws('dead') }, 'FAILED'],
  ['a plan that hangs', { plan: ['hangs'] }, 'FAILED'],
  [
    'a plan that meets every retrier in turn',
    { plan: [...throws('retry', 'Lambda.TooManyRequestsException', 'Sandbox.Timedout', 'retry'), planned()] },
    'SUCCEEDED',
  ],
  ['seven reviews, three side by side', { plan: [planned(many)] }, 'SUCCEEDED'],
  ['reviews one by one', { plan: [planned({ ...many, ceiling: 1 })] }, 'SUCCEEDED'],
  ['reviews without a ceiling', { plan: [planned({ ...many, ceiling: 0 })] }, 'SUCCEEDED'],
  ['no slot for one review', { 'admit second': [answers('ended')] }, 'SUCCEEDED'],
  ['an admission that fails by its token', { 'admit first': [{ tokenFails: 'refused' }] }, 'SUCCEEDED'],
  ['an admission asked again by its token', { 'admit first': [{ tokenFails: 'retry' }, granted()] }, 'SUCCEEDED'],
  ['an admission without an answer', { 'admit first': ['silent'] }, 'SUCCEEDED'],
  ['an admission that hangs', { 'admit second': ['hangs'] }, 'SUCCEEDED'],
  [
    'a token answered before its function returns',
    { admit: [{ token: { outcome: 'granted', epoch: 1 }, when: 'early' }] },
    'SUCCEEDED',
  ],
  ['a token answered twice', { admit: [{ token: { outcome: 'granted', epoch: 1 }, when: 'twice' }] }, 'SUCCEEDED'],
  [
    'IL3: a stale fence',
    { 'admit first': [granted(1), granted(2)], 'review first': [...throws('stale_fence'), completed] },
    'SUCCEEDED',
  ],
  [
    'a lease that is held for a while',
    { 'review first': [...times(4, { throws: 'lease_held' }), completed] },
    'SUCCEEDED',
  ],
  [
    'a lease that is held longer than the wait',
    { 'admit first': [granted(1), granted(2)], 'review first': [...times(8, { throws: 'lease_held' }), completed] },
    'SUCCEEDED',
  ],
  [
    'a review whose worker hangs',
    { 'admit second': [granted(1), granted(2)], 'review second': ['hangs', completed] },
    'SUCCEEDED',
  ],
  [
    'a review whose worker dies until it is ended',
    { 'admit first': [granted(1), granted(2), granted(3), answers('ended')], 'review first': throws('Lambda.Unknown') },
    'SUCCEEDED',
  ],
  [
    'a review whose worker dies, is replaced, and dies again',
    {
      'admit first': [granted(1), granted(2), granted(3), granted(4)],
      'review first': [...throws('Sandbox.Timedout', 'stale_fence', 'Runtime.ExitError'), completed],
    },
    'SUCCEEDED',
  ],
  [
    'an adjudication whose worker dies, after reviews whose workers died',
    {
      'admit first': [granted(1), granted(2)],
      'review first': [...throws('Lambda.Unknown'), completed],
      'admit adjudication': [granted(1), granted(2)],
      'review adjudication': [...throws('Runtime.ExitError'), completed],
    },
    'SUCCEEDED',
  ],
  [
    'L1: a review that is parked again and again',
    {
      'admit first': [granted(1), granted(2), granted(3), granted(4)],
      'review first': [...times(3, returns('parked')), completed],
    },
    'SUCCEEDED',
  ],
  [
    'L2: a parked review that is given up',
    { 'admit first': [granted(1), answers('failed')], 'review first': [returns('parked')] },
    'SUCCEEDED',
  ],
  ['a review without an answer', { 'review first': [{ returns: null }] }, 'SUCCEEDED'],
  [
    'J5: an adjudication that is parked',
    {
      'admit adjudication': [granted(1), granted(2)],
      'review adjudication': [returns('parked'), completed],
    },
    'SUCCEEDED',
  ],
  ['a review that is lost', { 'review first': throws('analyzer_crashed') }, 'SUCCEEDED'],
  [
    'a review that is told to wait',
    { 'review second': [...throws('retry', 'retry', 'lease_held', 'retry'), completed] },
    'SUCCEEDED',
  ],
  [
    'an adjudication with a stale fence',
    { 'admit adjudication': [granted(1), granted(2)], 'review adjudication': [...throws('stale_fence'), completed] },
    'SUCCEEDED',
  ],
  [
    'an adjudication that is lost',
    { 'admit adjudication': [granted()], 'review adjudication': throws('dead') },
    'SUCCEEDED',
  ],
  ['an adjudication without an admission', { 'admit adjudication': ['silent'] }, 'SUCCEEDED'],
  ['a conclusion that is held', { conclude: [answers('held')] }, 'SUCCEEDED'],
  ['a conclusion with an unknown outcome', { conclude: [answers('unheard_of')] }, 'FAILED'],
  ['a conclusion that fails by its token', { conclude: [{ tokenFails: 'dead' }] }, 'FAILED'],
  ['a conclusion that is thrown', { conclude: [...throws('retry', 'Lambda.ServiceException'), shown] }, 'SUCCEEDED'],
  ['a conclusion without an answer', { conclude: ['silent'] }, 'FAILED'],
]

describe('both engines agree on a script', () => {
  test.each(scripts)('both engines agree: %s', async (_title, script, status) => {
    const simulated = playSimulated(script)

    expect(simulated.status).toBe(status)
    expect(simulated).toEqual(await playEmbedded(script))
  })
})
