import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ROUNDS_REMEMBERED_MAX } from '../../../shared/base/limits.ts'
import type { Run } from '../../../shared/runs/run.ts'
import { claim, nextRound, seenOpen, type Thread, withRound } from '../../../shared/runs/thread.ts'
import { runOf, sha } from '../samples.ts'

const h1 = runOf({ head: sha('h1'), eventAt: 1_000, opensSeries: true })
const h2 = runOf({ head: sha('h2'), eventAt: 2_000 })

/** The thread after the claims of these runs, one after the other; refused claims are left out. */
function claimedBy(...runs: Run[]): Thread {
  let thread: Thread | undefined
  for (const [index, run] of runs.entries()) {
    const decision = claim(thread, run, 10_000 + index)
    if (decision.kind === 'claim') thread = { ...decision.thread, version: (thread?.version ?? 0) + 1 }
  }
  if (!thread) throw new Error('Expected a run that may claim, got none')
  return thread
}

describe('claim', () => {
  it('D3: a run that claims again, even by an older view of GitHub, keeps its event and the time at which it was seen open', () => {
    const edited = runOf({ head: h1.head, kind: 'analyzers', cause: 'text', eventAt: 2_000 })
    const claimed = claimedBy(edited, h1)
    expect(claimed.liveRun).toMatchObject({ runId: h1.runId, eventAt: 2_000 })
    const again = claim(seenOpen(claimed, 5_000), { ...h1, attempt: 2 }, 1)
    if (again.kind !== 'claim') throw new Error('Expected a claim.')
    expect(seenOpen(again.thread, 4_000).liveRun).toMatchObject({ eventAt: 2_000, openAt: 5_000 })
    expect(seenOpen(again.thread, 6_000).liveRun).toMatchObject({ openAt: 6_000 })
  })

  it('IL1: a run of an earlier event never replaces the live run of a later event, and learns its id', () => {
    expect(claim(claimedBy(h1, h2), h1, 1)).toEqual({ kind: 'superseded', by: h2.runId })
  })

  it('IL1: a run of a later event replaces the live run, which is to end', () => {
    expect(claim(claimedBy(h1), h2, 1)).toMatchObject({ kind: 'claim', ends: h1.runId, thread: { head: h2.head } })
  })

  it('an event of the same second is not earlier: GitHub decides about the head', () => {
    expect(claim(claimedBy(h1), { ...h2, eventAt: h1.eventAt }, 1)).toMatchObject({ kind: 'claim', ends: h1.runId })
  })

  describe('PR6: after an edited description was read', () => {
    const edited = runOf({ head: h1.head, kind: 'analyzers', cause: 'text', eventAt: 2_000 })

    it('the review of its head, whose event is earlier, claims; the head stays confirmed by the later event', () => {
      const decision = claim(claimedBy(edited), h1, 1)
      const liveRun = { runId: h1.runId, kind: 'full', eventAt: 2_000 }
      expect(decision).toMatchObject({ kind: 'claim', ends: edited.runId, thread: { liveRun } })
    })

    it('no review of an earlier event claims for another head or base, and no earlier text', () => {
      for (const other of [{ head: sha('h0') }, { baseRef: 'next' }, { kind: 'analyzers', cause: 'before' }] as const) {
        const run = runOf({ head: h1.head, eventAt: 1_000, ...other })
        expect(claim(claimedBy(edited), run, 1)).toEqual({ kind: 'superseded', by: edited.runId })
      }
    })

    it('a review of a later event is not overtaken by an earlier review of its head', () => {
      const later = runOf({ head: h1.head, cause: 'comment:1', eventAt: 3_000 })
      expect(claim(claimedBy(later), h1, 1)).toEqual({ kind: 'superseded', by: later.runId })
    })
  })

  it('a claim repeated after a lost answer changes neither series nor round nor sequence', () => {
    const once = claimedBy(h1)
    expect(claimedBy(h1, h1)).toEqual({ ...once, version: once.version + 1 })
    expect(claim(once, h1, 1)).toMatchObject({ entry: undefined, ends: undefined })
  })

  it('the first claim opens the first series, whatever the event', () => {
    expect(claimedBy(h2)).toMatchObject({ series: 1, round: 0, nextSequence: 1 })
  })

  it('RO9: an event that opens a series counts the rounds anew', () => {
    const reviewed = { ...claimedBy(h1, h2), round: 3, counted: ['m1', 'm2', 'm3'] }
    const reopened = runOf({ head: sha('h2'), attempt: 2, eventAt: 3_000, opensSeries: true })
    expect(claim(reviewed, reopened, 1)).toMatchObject({ thread: { series: 2, round: 0, counted: [] } })
  })

  it('a push leaves the series and its rounds alone', () => {
    expect(claim({ ...claimedBy(h1), round: 2 }, h2, 1)).toMatchObject({ thread: { series: 1, round: 2 } })
  })

  it('a head is a checkpoint when new to the thread, and again after its return', () => {
    expect(claim(undefined, h1, 7)).toMatchObject({ entry: { kind: 'checkpoint', head: h1.head, at: 7 } })
    const back = { ...h1, eventAt: 3_000, attempt: 2 }
    expect(claim(claimedBy(h1, h2), back, 8)).toMatchObject({ entry: { kind: 'checkpoint', head: h1.head, at: 8 } })
  })

  const someRun = fc
    .record({
      head: fc.constantFrom('a', 'b', 'c'),
      eventAt: fc.integer({ min: 1, max: 6 }),
      attempt: fc.integer({ min: 1, max: 2 }),
      opensSeries: fc.boolean(),
      text: fc.option(fc.constantFrom('a text', 'another'), { nil: undefined }),
    })
    .map(({ head, text, ...rest }) =>
      runOf({ ...rest, head: sha(head), ...(text ? { kind: 'analyzers', cause: text } : {}) }),
    )

  it('I7: the sequence has no gap, for any claims in any order', () => {
    fc.assert(
      fc.property(fc.array(someRun, { minLength: 1 }), (runs) => {
        let thread: Thread | undefined
        let entries = 0
        for (const run of runs) {
          const decision = claim(thread, run, 1)
          if (decision.kind !== 'claim') continue
          entries += decision.entry ? 1 : 0
          thread = decision.thread
          expect(thread.nextSequence).toBe(entries)
        }
      }),
    )
  })

  it('I4: the live run is never of an earlier event than an earlier claim of another run', () => {
    fc.assert(
      fc.property(fc.array(someRun, { minLength: 1 }), (runs) => {
        let thread: Thread | undefined
        for (const run of runs) {
          const before = thread?.liveRun
          const decision = claim(thread, run, 1)
          if (decision.kind === 'claim') thread = decision.thread
          const live = thread?.liveRun
          if (before && live && before.runId !== live.runId) expect(live.eventAt).toBeGreaterThanOrEqual(before.eventAt)
        }
      }),
    )
  })
})

describe('nextRound', () => {
  it('counts from 1', () => {
    expect(nextRound(claimedBy(h1))).toBe(1)
    expect(nextRound({ ...claimedBy(h1), round: 2 })).toBe(3)
  })
})

describe('withRound', () => {
  it('IL2: each message of the series counts once, and no message of another series', () => {
    const { series } = claimedBy(h1)
    const once = { ...claimedBy(h1), ...withRound(claimedBy(h1), { name: 'm1', series }) }
    expect(once).toMatchObject({ round: 1, counted: ['m1'] })
    expect(withRound(once, { name: 'm1', series })).toBeUndefined()
    expect(withRound(once, { name: 'm2', series: series - 1 })).toBeUndefined()
    expect(withRound(once, { name: 'm2', series })).toEqual({ round: 2, counted: ['m1', 'm2'] })
  })

  it('the list of counted messages is bounded, the count of rounds is not', () => {
    let thread = claimedBy(h1)
    for (let index = 0; index <= ROUNDS_REMEMBERED_MAX; index += 1) {
      thread = { ...thread, ...withRound(thread, { name: `m${index}`, series: thread.series }) }
    }
    expect(thread.round).toBe(ROUNDS_REMEMBERED_MAX + 1)
    expect(thread.counted).toHaveLength(ROUNDS_REMEMBERED_MAX)
  })
})
