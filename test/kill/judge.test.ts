import { describe, expect, it } from 'vitest'
import type { PullRequestSnapshot } from '../../infra/local/github/snapshot.ts'
import { unrestOf, violationsOf } from './judge.ts'
import type { LedgerItem, SystemSnapshot } from './snapshot.ts'

const HEAD = 'a'.repeat(40)
const BOT = { login: 'muster[bot]', type: 'Bot' } as const
const run: LedgerItem = {
  pk: 'RUN#r1',
  sk: 'RUN',
  number: 1,
  head: HEAD,
  kind: 'full',
  state: 'ended',
  outcome: 'reviewed',
}
const message: LedgerItem = {
  pk: 'PR#7#1',
  sk: 'MESSAGE#r1#k1#review',
  number: 1,
  runId: 'r1',
  planKey: 'k1',
  state: 'said',
}

function review(more: Partial<PullRequestSnapshot['reviews'][number]> = {}): PullRequestSnapshot['reviews'][number] {
  const body = 'Said.\n<!-- muster:v1 review r1 k1 -->'
  const about = { id: 1, author: BOT, body, state: 'COMMENTED', commitId: HEAD, submittedAt: 1 } as const
  return { ...about, pending: false, comments: [], ...more }
}

const checkRun = {
  status: 'completed',
  conclusion: 'success',
} as PullRequestSnapshot['checkRuns'][number]['runs'][number]
const summary = { id: 1, number: 1, author: BOT, body: '', createdAt: 1, updatedAt: 1 }
const comment = {
  path: 'a.js',
  line: 3,
  body: 'A secret.',
} as PullRequestSnapshot['reviews'][number]['comments'][number]

function pullRequest(more: Partial<PullRequestSnapshot> = {}): PullRequestSnapshot {
  return {
    number: 1,
    state: 'open',
    draft: false,
    head: { ref: 'change', sha: HEAD },
    labels: ['muster: passed', 'somebody’s own'],
    reviews: [review()],
    issueComments: [summary],
    checkRuns: [{ headSha: HEAD, runs: [checkRun] }],
    ...more,
  } as PullRequestSnapshot
}

function snapshot(more: Partial<SystemSnapshot> = {}): SystemSnapshot {
  const delivery = { guid: 'g', number: 1, action: 'opened', status: 202, ended: true }
  return { pullRequests: [pullRequest()], items: [run, message], deliveries: [delivery], executions: [], ...more }
}

describe('the judge of the kill test', () => {
  it('the judge accepts a correct snapshot', () => {
    expect(violationsOf(snapshot())).toEqual([])
  })

  it.each<[string, SystemSnapshot]>([
    ['a pending review', snapshot({ pullRequests: [pullRequest({ reviews: [review(), review({ pending: true })] })] })],
    ['a run that has not ended', snapshot({ items: [{ ...run, state: 'running' }, message] })],
    ['something that stays due', snapshot({ items: [run, { ...message, dueAt: 5 }] })],
    [
      'a slot that is held',
      snapshot({ items: [run, message, { pk: 'F', sk: 'FLEET', slots: { 'r1/k1/secrets/0': {} } }] }),
    ],
    ['an execution that runs', snapshot({ executions: ['acme-parcels-pr1'] })],
    [
      'a webhook that was not taken',
      snapshot({ deliveries: [{ guid: 'g', number: 1, action: 'opened', status: 503, ended: true }] }),
    ],
  ])('the judge sees unrest: %s', (_what, seen) => {
    expect(unrestOf(seen)).toHaveLength(1)
    expect(violationsOf(seen)).not.toEqual([])
  })

  it.each<[string, SystemSnapshot, RegExp]>([
    [
      'a review that stands twice',
      snapshot({ pullRequests: [pullRequest({ reviews: [review(), review({ id: 2 })] })] }),
      /stands 2 times/,
    ],
    ['a review that is missing', snapshot({ pullRequests: [pullRequest({ reviews: [] })] }), /stands 0 times/],
    ['a review that no message says', snapshot({ items: [run] }), /no message says so/],
    [
      'an inline comment that stands twice',
      snapshot({ pullRequests: [pullRequest({ reviews: [review({ comments: [comment, comment] })] })] }),
      /inline comment stands twice/,
    ],
    [
      'a check run in progress',
      snapshot({
        pullRequests: [pullRequest({ checkRuns: [{ headSha: HEAD, runs: [{ ...checkRun, status: 'in_progress' }] }] })],
      }),
      /is in_progress/,
    ],
    [
      'two check runs of a head',
      snapshot({ pullRequests: [pullRequest({ checkRuns: [{ headSha: HEAD, runs: [checkRun, checkRun] }] })] }),
      /has 2 check runs/,
    ],
    [
      'two summaries',
      snapshot({ pullRequests: [pullRequest({ issueComments: [summary, summary] })] }),
      /2 summary comments/,
    ],
    ['no summary', snapshot({ pullRequests: [pullRequest({ issueComments: [] })] }), /no summary comment/],
    [
      'two labels',
      snapshot({ pullRequests: [pullRequest({ labels: ['muster: passed', 'muster: action required'] })] }),
      /has the labels/,
    ],
    ['no label', snapshot({ pullRequests: [pullRequest({ labels: [] })] }), /no label/],
    ['a run that failed', snapshot({ items: [{ ...run, outcome: 'failed' }, message] }), /failed/],
    ['a lens that was lost', snapshot({ items: [{ ...run, verdict: 'incomplete' }, message] }), /is incomplete/],
    [
      'a message that was given up',
      snapshot({ items: [run, message, { ...message, planKey: 'k2', state: 'failed' }] }),
      /is failed/,
    ],
    [
      'a ticket that is left',
      snapshot({ items: [run, message, { pk: 'QUEUE#7#lambda', sk: '1#r1' }] }),
      /is left in its queue/,
    ],
  ])('the judge sees %s', (_what, seen, sentence) => {
    expect(violationsOf(seen).join('\n')).toMatch(sentence)
  })
})
