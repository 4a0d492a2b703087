import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterUnknown,
  isDue,
  isOwed,
  mayPost,
  nextRecheckAt,
  stopReason,
} from '../../../../functions/post/core/posting.ts'
import { HEAD_VISIBLE_WITHIN_MS, POST_ERRORS_MAX, POST_UNSEEN_MAX } from '../../../../shared/base/limits.ts'
import type { Message } from '../../../../shared/ledger/message.ts'
import type { ShownResource } from '../../../../shared/ledger/resource.ts'
import { endedCheckRun, inProgressCheckRun } from '../../../../shared/publishing/check-run.ts'
import type { RunState } from '../../../../shared/runs/run.ts'
import type { Thread } from '../../../../shared/runs/thread.ts'
import { runOf } from '../../../shared/samples.ts'

const run = runOf({ state: 'concluded' })
const NOW = run.acceptedAt
const TOO_LATE = NOW + HEAD_VISIBLE_WITHIN_MS
const thread: Thread = {
  repositoryId: 7,
  number: 42,
  head: run.head,
  baseRef: 'main',
  series: 1,
  round: 0,
  nextSequence: 2,
  liveRun: { runId: run.runId, attempt: 1, kind: 'full', eventAt: 1_000 },
  version: 3,
}
const pullRequest = { head: { sha: run.head }, state: 'open', updatedAt: 5_000 }
const facts = { run, thread, message: { state: 'owed', attempt: 1 }, halted: false, pullRequest, now: NOW } as const

describe('stopReason', () => {
  it('a message of the live run may be said, at the head on GitHub, under no halt', () => {
    expect(stopReason(facts)).toBeUndefined()
  })

  it('PR2, A13: a message of a head that has moved is stopped', () => {
    expect(stopReason({ ...facts, pullRequest: { ...pullRequest, head: { sha: 'newer' } } })).toBe('head_moved')
  })

  it('PL8: a view of GitHub from before the event shows no newer head and is read again, for a bounded time', () => {
    const behind = { ...pullRequest, head: { sha: 'older' }, updatedAt: run.eventAt - 1 }
    expect(stopReason({ ...facts, pullRequest: behind })).toBe('not_visible')
    expect(stopReason({ ...facts, pullRequest: behind, now: TOO_LATE })).toBe('head_moved')
    expect(stopReason({ ...facts, pullRequest: { ...behind, updatedAt: run.eventAt } })).toBe('not_visible')
    expect(stopReason({ ...facts, pullRequest: { ...behind, updatedAt: run.eventAt }, now: TOO_LATE })).toBe(
      'head_moved',
    )
  })

  it('L4: a message of a pull request closed since its event is stopped; a pull request reopened by the event is open', () => {
    expect(stopReason({ ...facts, pullRequest: { ...pullRequest, state: 'closed' } })).toBe('closed')
    expect(
      stopReason({ ...facts, pullRequest: { ...pullRequest, state: 'closed', updatedAt: run.eventAt } }),
    ).toBeUndefined()
  })

  it('RC4: a halt stops a message', () => {
    expect(stopReason({ ...facts, halted: true })).toBe('halted')
  })

  it('IL2: a withdrawal stops a message before every other reason', () => {
    expect(stopReason({ ...facts, message: { state: 'withdrawing', attempt: 1 } })).toBe('withdrawing')
  })

  it('I4: a message is stopped once the thread names another run or attempt, and while its run is not concluded', () => {
    const other = { runId: 'other', attempt: 1, kind: 'full', eventAt: 2_000 } as const
    expect(stopReason({ ...facts, thread: { ...thread, liveRun: other } })).toBe('not_live')
    expect(stopReason({ ...facts, thread: undefined })).toBe('not_live')
    expect(stopReason({ ...facts, message: { state: 'owed', attempt: 2 } })).toBe('not_live')
    const states: RunState[] = ['accepted', 'running', 'held', 'ending', 'ended']
    for (const state of states) expect(stopReason({ ...facts, run: runOf({ state }) })).toBe('not_live')
  })
})

describe('afterUnknown', () => {
  const error = { code: 'github_unreachable', afterMs: 1_000 }

  it('LE9: five errors make a message failed, four don’t', () => {
    for (let errors = 0; errors < POST_ERRORS_MAX - 1; errors += 1) {
      expect(afterUnknown(error, errors, 0)).toMatchObject({ kind: 'postpone', error: true })
    }
    expect(afterUnknown(error, POST_ERRORS_MAX - 1, 0)).toEqual({ kind: 'give_up' })
  })

  it('LE14: a write that GitHub took and does not show is read three more times after the last attempt', () => {
    const unseen = { code: 'not_shown', afterMs: 1_000 }
    const kinds = [0, 1, 2, 3, 4].map((more) => afterUnknown(unseen, POST_ERRORS_MAX - 1 + more, 0).kind)
    expect(kinds).toEqual(['postpone', 'postpone', 'postpone', 'give_up', 'give_up'])
    expect(afterUnknown(unseen, POST_UNSEEN_MAX - 2, 0)).toEqual({ kind: 'postpone', at: 64_000, error: true })
    // An error among these reads ends them no sooner.
    const errs = [0, 1, 2].map((more) => afterUnknown(error, POST_ERRORS_MAX + more, 0).kind)
    expect(errs).toEqual(['postpone', 'postpone', 'give_up'])
  })

  it('LE9: a limit of GitHub uses time, not attempts, and never makes a message failed', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000 }), fc.nat({ max: 3_600_000 }), (errors, afterMs) => {
        const next = afterUnknown({ code: 'github_throttled', afterMs }, errors, 5)
        expect(next).toEqual({ kind: 'postpone', at: 5 + afterMs, error: false })
      }),
    )
  })

  it('AW73: a head too new to be visible uses time, not attempts', () => {
    const next = afterUnknown({ code: 'head_not_visible', afterMs: 5 }, POST_ERRORS_MAX, 1)
    expect(next).toEqual({ kind: 'postpone', at: 6, error: false })
  })

  it('the wait grows with each error', () => {
    const waits = [0, 1, 2, 3].map((errors) => {
      const next = afterUnknown(error, errors, 0)
      return next.kind === 'postpone' ? next.at : 0
    })
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000])
  })
})

describe('due messages', () => {
  const said: Message = {
    ...{ repositoryId: 7, number: 42, runId: run.runId, planKey: 'plan', key: 'review', document: 'd', attempt: 1 },
    ...{ state: 'said', series: 1, round: 1, errors: 0, leaseUntil: 0 },
  }

  it('a message is due while owed or withdrawing, and a settled message is not', () => {
    expect(isDue({ ...said, state: 'owed' }, 100)).toBe(true)
    expect(isDue({ ...said, state: 'withdrawing' }, 100)).toBe(true)
    for (const state of ['said', 'withdrawn', 'failed'] as const) expect(isDue({ ...said, state }, 100)).toBe(false)
  })

  it('IL2, IL14: a settled message is due from its recheck on', () => {
    expect(isDue({ ...said, recheckAt: 101 }, 100)).toBe(false)
    expect(isDue({ ...said, recheckAt: 100 }, 100)).toBe(true)
  })

  it('a settled message is due once a lease on it is abandoned', () => {
    expect(isDue({ ...said, owner: 'late', leaseUntil: 101 }, 100)).toBe(false)
    expect(isDue({ ...said, owner: 'late', leaseUntil: 100 }, 100)).toBe(true)
  })
})

describe('due resources', () => {
  const resource: ShownResource = {
    kind: 'check_run',
    key: run.head,
    runId: run.runId,
    document: 'd',
    generation: 2,
    shownGeneration: 2,
    errors: 0,
  }

  it('RO10: a generation that was not posted is owed; the newest posted generation is not', () => {
    expect(isOwed({ ...resource, shownGeneration: 1 }, 100)).toBe(true)
    expect(isOwed(resource, 100)).toBe(false)
  })

  it('IL5: a recheck is owed from its time on', () => {
    expect(isOwed({ ...resource, recheckAt: 100 }, 99)).toBe(false)
    expect(isOwed({ ...resource, recheckAt: 100 }, 100)).toBe(true)
  })

  it('R4: a resource is not owed before the time that GitHub named, whoever nudges', () => {
    const waiting = { ...resource, shownGeneration: 1, tryAt: 100 }
    expect(isOwed(waiting, 99)).toBe(false)
    expect(isOwed(waiting, 100)).toBe(true)
  })

  it('IL5: the recheck after a takeover comes when no call of the earlier poster can be under way', () => {
    const facts = { now: 1_000, leaseMs: 60_000, unanswered: false }
    expect(nextRecheckAt({ owner: 'who died' }, facts)).toBe(61_000)
    expect(nextRecheckAt({}, facts)).toBeUndefined()
    expect(nextRecheckAt({ recheckAt: 30_000 }, facts)).toBe(30_000)
    expect(nextRecheckAt({ recheckAt: 1_000 }, facts)).toBeUndefined()
  })

  it('IL5, IL14: the recheck after an unanswered call comes later than an earlier recheck', () => {
    const facts = { now: 1_000, leaseMs: 60_000, unanswered: true }
    expect(nextRecheckAt({}, facts)).toBe(61_000)
    expect(nextRecheckAt({ recheckAt: 30_000 }, facts)).toBe(61_000)
  })
})

describe('mayPost', () => {
  const label = { kind: 'label', label: 'muster: checking' } as const
  const ended = runOf({ state: 'ended', outcome: 'closed' })

  const seen = { pullRequest, now: NOW }
  const newer = { ...seen, pullRequest: { ...pullRequest, head: { sha: 'newer' } } }
  const notAsked = { pullRequest: undefined, now: NOW }

  it('PR2, PR5: a verdict is posted only at the head on GitHub, and never under a halt', () => {
    expect(mayPost({ ...seen, desired: label, raisedBy: run, halted: false })).toBe('post')
    expect(mayPost({ ...newer, desired: label, raisedBy: run, halted: false })).toBe('head_moved')
    expect(mayPost({ desired: label, raisedBy: run, halted: true, ...seen })).toBe('later')
    expect(mayPost({ desired: label, raisedBy: runOf({ state: 'ending' }), halted: false, ...seen })).toBe('later')
  })

  it('PL8: a verdict waits while GitHub shows the head before', () => {
    const behind = { ...pullRequest, head: { sha: 'older' }, updatedAt: run.eventAt - 1 }
    const asked = { desired: label, raisedBy: run, halted: false, pullRequest: behind }
    expect(mayPost({ ...asked, now: NOW })).toBe('later')
    expect(mayPost({ ...asked, now: TOO_LATE })).toBe('head_moved')
  })

  it('I3: a check run in progress is void after the end of its run; the completed check run is posted', () => {
    const checkRun = endedCheckRun(ended)
    expect(mayPost({ desired: checkRun, raisedBy: ended, halted: false, ...notAsked })).toBe('post')
    expect(mayPost({ desired: inProgressCheckRun(ended, []), raisedBy: ended, halted: false, ...notAsked })).toBe(
      'void',
    )
  })

  it('D3: a run that ended without a verdict posts the absence of a label, and its earlier label is void', () => {
    expect(mayPost({ desired: label, raisedBy: ended, halted: false, ...notAsked })).toBe('void')
    const none = { kind: 'label', label: 'none' } as const
    expect(mayPost({ desired: none, raisedBy: ended, halted: false, ...notAsked })).toBe('post')
  })
})
