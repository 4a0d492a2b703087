import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isWanted, nextDueAt, runActionOf, voidSlots } from '../../../../functions/sweep/core/sweep.ts'
import type { ExecutionStatus } from '../../../../shared/aws/executions.ts'
import type { DueItem } from '../../../../shared/ledger/due.ts'
import type { Review, ReviewState } from '../../../../shared/runs/review.ts'
import type { RunState } from '../../../../shared/runs/run.ts'
import { runOf, wantedReview } from '../../../shared/samples.ts'

const STATES: readonly RunState[] = ['accepted', 'running', 'concluded', 'held', 'ending', 'ended']
const STATUSES: readonly ExecutionStatus['kind'][] = ['running', 'absent', 'ended']

describe('the sweeper’s action for a run', () => {
  it.each([
    ['LE4: accepted, without an execution', 'accepted', 'absent', false, 'start'],
    ['I5: accepted, with an ended execution', 'accepted', 'ended', false, 'fail'],
    ['accepted, with a running execution', 'accepted', 'running', false, 'look_later'],
    ['I5: running, with an ended execution', 'running', 'ended', false, 'fail'],
    ['I5: running, without an execution', 'running', 'absent', false, 'fail'],
    ['running, with a running execution', 'running', 'running', false, 'look_later'],
    ['RO10: concluded', 'concluded', 'ended', false, 'nudge'],
    ['PL4: held, the halt still standing', 'held', 'ended', true, 'look_later'],
    ['PL4, IL12: held, the halt lifted', 'held', 'ended', false, 'resume'],
    ['LE6: ending', 'ending', 'running', false, 'finish_ending'],
  ] as const)('%s', (_, state, execution, halted, kind) => {
    expect(runActionOf(runOf({ state }), execution, halted)).toEqual({ kind })
  })

  it('I5: every run but ended runs and runs waiting for a live execution or a halt is moved on', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STATES),
        fc.constantFrom(...STATUSES),
        fc.boolean(),
        (state, execution, halted) => {
          const { kind } = runActionOf(runOf({ state }), execution, halted)
          const waits = state === 'ended' || (state === 'held' && halted)
          const alive = execution === 'running' && (state === 'accepted' || state === 'running')
          expect(kind === 'look_later').toBe(waits || alive)
        },
      ),
    )
  })
})

describe('the time of the next look', () => {
  const recheckMs = 60_000
  const at = (item: object) => nextDueAt({ dueAt: 0, ...item } as DueItem, 1_000_000, recheckMs)

  it('a waiting review is looked at less often than a leased review, as only its ticket matters', () => {
    expect(at({ kind: 'review', review: { state: 'leased' } })).toBe(1_060_000)
    expect(at({ kind: 'review', review: { state: 'waiting' } })).toBe(1_300_000)
  })

  it('an event that stays open gets ever rarer looks', () => {
    expect(at({ kind: 'event', event: { eventAt: 1_000_000 } })).toBe(1_060_000)
    expect(at({ kind: 'event', event: { eventAt: 0 } })).toBe(1_250_000)
    expect(at({ kind: 'event', event: {} })).toBe(1_060_000)
  })

  it('every item is looked at again later than now', () => {
    for (const kind of ['run', 'message', 'resources', 'fleet', 'unknown']) expect(at({ kind })).toBe(1_060_000)
  })
})

describe('isWanted', () => {
  const review = { ...wantedReview(0), state: 'waiting', epoch: 1 } as Review

  it('a review is wanted only by the running attempt of its own run', () => {
    expect(isWanted(review, runOf({ state: 'running' }))).toBe(true)
    expect(isWanted(review, runOf({ state: 'running', attempt: 2 }))).toBe(false)
    for (const state of STATES.filter((other) => other !== 'running')) {
      expect(isWanted(review, runOf({ state }))).toBe(false)
    }
    expect(isWanted(review, undefined)).toBe(false)
  })
})

describe('voidSlots', () => {
  const slots = { r: { epoch: 2 } }
  const seen = (state: ReviewState, epoch: number) => voidSlots(slots, new Map([['r', { state, epoch }]]))

  it.each(['waiting', 'granted', 'leased'] as const)('IL4: the slot of a %s review at its epoch is held', (state) => {
    expect(seen(state, 2)).toEqual([])
  })

  it.each(['completed', 'failed', 'ended', 'planned'] as const)('IL6: the slot of a %s review is void', (state) => {
    expect(seen(state, 2)).toEqual([{ reviewId: 'r', epoch: 2 }])
  })

  it('a slot at another epoch, or of a missing review, is void', () => {
    expect(seen('leased', 3)).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(seen('leased', 1)).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(voidSlots(slots, new Map())).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(voidSlots(slots, new Map([['r', undefined]]))).toEqual([{ reviewId: 'r', epoch: 2 }])
  })
})
