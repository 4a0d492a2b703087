import { describe, expect, it } from 'vitest'
import { type CommandFacts, decide } from '../../../../functions/command/core/command.ts'
import { HEAD_VISIBLE_WITHIN_MS, TURN_ASKED_MS } from '../../../../shared/base/limits.ts'
import { turnOf } from '../../../../shared/fleet/schedule.ts'
import type { Run } from '../../../../shared/runs/run.ts'
import { repository, requestOf, runOf, sha } from '../../../shared/samples.ts'

const NOW = 1_000_000
const head = sha('head')

function facts(text: string, changes: Partial<CommandFacts> = {}): CommandFacts {
  return {
    event: {
      kind: 'command',
      repository,
      number: 42,
      cause: 'comment:900',
      eventAt: NOW,
      acceptedAt: NOW,
      commentId: 900,
      author: 'mia',
      text,
      payloadDigest: 'd',
    },
    permission: 'write',
    pullRequest: {
      head: { sha: head, ref: 'topic' },
      base: { sha: sha('base'), ref: 'main' },
      state: 'open',
      updatedAt: NOW,
    },
    thread: undefined,
    threadRun: undefined,
    headRun: undefined,
    halt: undefined,
    repositoryHalt: undefined,
    now: NOW + 1,
    ...changes,
  }
}
const replyTo = (text: string, changes: Partial<CommandFacts> = {}) => {
  const decision = decide(facts(text, changes))
  return decision.kind === 'reply' ? decision.text : decision
}
const behind = { pullRequest: { ...facts('').pullRequest, updatedAt: NOW - 1 } }
const tooLate = { now: NOW + HEAD_VISIBLE_WITHIN_MS }

describe('review', () => {
  it('asks for the run of the head, with the same identity as a push: all requests meet in one run (D5, D7)', () => {
    const { runId, cause } = requestOf()
    const decision = decide(facts('/muster review'))
    expect(decision).toMatchObject({ kind: 'review', request: { runId, cause, head, kind: 'full', askedBy: 'person' } })
    expect(decision).not.toHaveProperty('liveRun')
  })

  it.each(['/muster review', '/muster review mind the locks'])(
    '%s gets an earlier turn than a push at the same time',
    (text) => {
      const decision = decide(facts(text))
      if (decision.kind !== 'review') throw new Error(`Expected a review, got ${decision.kind}`)
      expect(turnOf({ ...decision.request, acceptedAt: NOW })).toBe(NOW - TURN_ASKED_MS)
    },
  )

  it('with a focus asks for a run of its own, whose cause is the comment, and still joins a live review', () => {
    const decision = decide(facts('/muster review mind the locks'))
    expect(decision).toMatchObject({ request: { cause: 'comment:900', head, focus: 'mind the locks' } })
    const live = runOf({ state: 'running', head })
    expect(decide(facts('/muster review mind the locks', { threadRun: live }))).toMatchObject({ liveRun: live })
  })

  it('D7: joins a live review of the head, but no review of another head, of analyzers only, or ended', () => {
    const live = runOf({ state: 'running', head })
    expect(decide(facts('/muster review', { threadRun: live }))).toMatchObject({ liveRun: live })
    expect(decide(facts('/muster review', { headRun: live }))).toMatchObject({ liveRun: live })
    for (const run of [
      { ...live, head: sha('old') },
      { ...live, kind: 'analyzers' },
      { ...live, state: 'ended' },
    ] as const) {
      expect(decide(facts('/muster review', { threadRun: run }))).not.toHaveProperty('liveRun')
    }
  })

  it('PL9: takes a prefix of the head; PL7: refuses a SHA with only the same beginning, and names the head', () => {
    expect(decide(facts(`/muster review ${head.slice(0, 7)}`)).kind).toBe('review')
    expect(decide(facts(`/muster review ${head.toUpperCase()}`)).kind).toBe('review')
    const wrong = head.slice(0, 8) + sha('wrong').slice(8)
    expect(replyTo(`/muster review ${wrong}`)).toContain(`\`head_mismatch\`: the head is \`${head}\``)
    expect(replyTo(`/muster review ${head}00`)).toContain('head_mismatch')
  })

  it('PL8: waits for a bounded time while GitHub lags behind the comment, and reviews no older head in place of the intended head', () => {
    const pushed = sha('pushed')
    expect(decide(facts(`/muster review ${pushed}`, behind))).toEqual({ kind: 'wait' })
    expect(decide(facts('/muster review', behind))).toEqual({ kind: 'wait' })
    expect(replyTo(`/muster review ${pushed}`, { ...behind, ...tooLate })).toContain('head_mismatch')
    // The named head is on GitHub: no need to wait for a newer head.
    expect(decide(facts(`/muster review ${head}`, behind)).kind).toBe('review')
  })

  it('refuses a closed pull request, unless GitHub showed the closing before the comment', () => {
    const pullRequest = { ...facts('').pullRequest, state: 'closed' } as const
    expect(replyTo('/muster review', { pullRequest })).toContain('closed')
    const before = { pullRequest: { ...pullRequest, updatedAt: NOW - 1 } }
    expect(decide(facts(`/muster review ${head}`, before))).toEqual({ kind: 'wait' })
    expect(replyTo(`/muster review ${head}`, { ...before, ...tooLate })).toContain('closed')
  })

  it('reviews nothing for a SHA too short to be a precondition', () => {
    expect(replyTo('/muster review 9b9189')).toContain('too short')
  })
})

describe('permission', () => {
  it.each(['review', 'cancel', 'retry', 'pause', 'resume', 'status', 'help'])(
    '%s takes write access, asked now',
    (name) => {
      for (const permission of ['read', 'none'] as const) {
        expect(replyTo(`/muster ${name}`, { permission })).toContain('write access')
      }
      for (const permission of ['write', 'admin'] as const) {
        expect(replyTo(`/muster ${name}`, { permission })).not.toContain('Commands are for people with write access')
      }
    },
  )

  it('resume does not lift an operator’s halt', () => {
    const halt = { scope: 'repository/7', why: '', since: NOW } as const
    expect(replyTo('/muster resume', { repositoryHalt: { ...halt, by: 'Operators/ana' } })).toContain('operator')
    expect(decide(facts('/muster resume', { repositoryHalt: { ...halt, by: 'github:rob' } }))).toEqual({
      kind: 'resume',
    })
    expect(decide(facts('/muster resume'))).toEqual({ kind: 'resume' })
  })
})

describe('cancel and retry', () => {
  const live = runOf({ state: 'running', head, acceptedAt: NOW - 1 })
  const ended = runOf({ state: 'ended', outcome: 'failed', head, acceptedAt: NOW - 1 })

  it('cancel ends a live run, also before its claim of the pull request', () => {
    expect(decide(facts('/muster cancel', { threadRun: live }))).toEqual({ kind: 'cancel', run: live })
    expect(decide(facts('/muster cancel', { threadRun: ended, headRun: live }))).toEqual({ kind: 'cancel', run: live })
    expect(replyTo('/muster cancel', { threadRun: ended })).toContain('No review is at work')
    expect(replyTo('/muster cancel')).toContain('No review is at work')
  })

  it('a late cancel leaves a later run alone', () => {
    expect(replyTo('/muster cancel', { threadRun: { ...live, acceptedAt: NOW + 1 } })).toContain('left alone')
  })

  it('I9: a repeated cancel gets the same reply', () => {
    const cancelled = runOf({ state: 'ended', outcome: 'cancelled', head })
    expect(replyTo('/muster cancel', { threadRun: cancelled })).toContain('is cancelled')
  })

  it('retry takes the review of the present head, never of an older head', () => {
    expect(decide(facts('/muster retry', { headRun: ended }))).toEqual({ kind: 'retry', run: ended })
    expect(replyTo('/muster retry', { threadRun: { ...ended, head: sha('old') } })).toContain('/muster review')
    expect(replyTo('/muster retry')).toContain('/muster review')
    // PL8: GitHub may not show the intended head yet.
    const pushed = runOf({ state: 'ended', head: sha('pushed') })
    expect(decide(facts('/muster retry', { ...behind, threadRun: pushed }))).toEqual({ kind: 'wait' })
    expect(replyTo('/muster retry', { ...behind, ...tooLate, threadRun: pushed })).toContain('/muster review')
  })
})

describe('with a thread whose run is not the run of the head', () => {
  const reviewed = { head, state: 'ended', outcome: 'reviewed', verdict: 'pass', concludedWhole: true } as const
  const incomplete = { ...reviewed, verdict: 'incomplete', concludedWhole: false } as const
  const failed = { head, state: 'ended', outcome: 'failed' } as const
  /** The run of the head, accepted at 100. */
  const pushed = (changes: Partial<Run> = {}) => runOf({ ...reviewed, acceptedAt: 100, ...changes })
  const focused = (changes: Partial<Run> = {}) =>
    runOf({ ...reviewed, cause: 'comment:5', focus: 'auth', acceptedAt: 200, ...changes })
  const edited = (changes: Partial<Run> = {}) =>
    runOf({ ...reviewed, cause: 'text:t', kind: 'analyzers', acceptedAt: 200, ...changes })

  const meant: [name: string, threadRun: Run, headRun: Run, retried: 'thread' | 'head', told: 'thread' | 'head'][] = [
    ['a review with a focus is incomplete', focused(incomplete), pushed(), 'thread', 'thread'],
    ['a review with a focus read everything since', focused(), pushed(incomplete), 'thread', 'thread'],
    ['the text could not be read again', edited(failed), pushed(), 'thread', 'thread'],
    ['the text was read again, the head is incomplete', edited(), pushed(incomplete), 'head', 'thread'],
    ['both have something missing', edited(failed), pushed(failed), 'head', 'thread'],
    ['the head was read completely after its text', edited(failed), pushed({ acceptedAt: 300 }), 'head', 'head'],
    ['the head was asked for after', focused(incomplete), pushed({ ...failed, acceptedAt: 300 }), 'head', 'head'],
    ['the head is being reviewed', focused(incomplete), pushed({ state: 'running' }), 'head', 'head'],
    ['the focus is being reviewed', focused({ state: 'running' }), pushed(incomplete), 'thread', 'thread'],
    ['the head came late', focused(incomplete), pushed({ outcome: 'superseded', acceptedAt: 300 }), 'thread', 'thread'],
    [
      'the head came late, all is read',
      focused(),
      pushed({ outcome: 'superseded', acceptedAt: 300 }),
      'thread',
      'thread',
    ],
    ['an earlier head was said last', focused({ head: sha('old') }), pushed(failed), 'head', 'head'],
    [
      'an earlier head is being reviewed',
      focused({ head: sha('old'), state: 'running' }),
      pushed(failed),
      'head',
      'thread',
    ],
  ]

  it.each(meant)('LE16: retry and status choose between the two runs: %s', (_, threadRun, headRun, retried, told) => {
    const runs = { thread: threadRun, head: headRun }
    expect(decide(facts('/muster retry', { threadRun, headRun }))).toEqual({ kind: 'retry', run: runs[retried] })
    expect(decide(facts('/muster status', { threadRun, headRun }))).toEqual({ kind: 'status', run: runs[told] })
  })

  it('cancel ends the run of the head if both are live, and a repeated cancel gets the same reply (I9)', () => {
    const threadRun = focused({ head: sha('old'), state: 'running' })
    const headRun = pushed({ state: 'accepted' })
    expect(decide(facts('/muster cancel', { threadRun, headRun }))).toEqual({ kind: 'cancel', run: headRun })
    const later = pushed({ state: 'accepted', acceptedAt: NOW + 1 })
    expect(decide(facts('/muster cancel', { threadRun, headRun: later }))).toEqual({ kind: 'cancel', run: threadRun })
    const cancelled = pushed({ outcome: 'cancelled', acceptedAt: 300 })
    expect(replyTo('/muster cancel', { threadRun: focused(incomplete), headRun: cancelled })).toContain('is cancelled')
  })

  it('PL8: retry waits for the run of a head that GitHub does not show yet', () => {
    const threadRun = focused({ head: sha('pushed'), state: 'running' })
    expect(decide(facts('/muster retry', { ...behind, threadRun, headRun: pushed(failed) }))).toEqual({ kind: 'wait' })
  })
})

describe('unknown commands', () => {
  it.each(['restart', 'override', 'rebut', 'defer'])('%s is said not to be available, and nothing is done', (name) => {
    expect(replyTo(`/muster ${name} x`)).toMatch(/not available in this version.*Nothing was done/)
  })

  it('an unknown word is repeated as a word, without mark-up', () => {
    expect(replyTo('/muster `@everyone`')).toContain('There is no command `` `@everyone` ``')
  })
})
