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

describe('what the sweeper does about a run', () => {
  it.each([
    ['LE4: accepted, its execution never started', 'accepted', 'absent', false, 'start'],
    ['I5: accepted, its execution over', 'accepted', 'ended', false, 'fail'],
    ['accepted, its execution about to plan', 'accepted', 'running', false, 'look_later'],
    ['I5: running, its execution over', 'running', 'ended', false, 'fail'],
    ['I5: running, its execution unknown', 'running', 'absent', false, 'fail'],
    ['running, its execution too', 'running', 'running', false, 'look_later'],
    ['RO10: concluded', 'concluded', 'ended', false, 'nudge'],
    ['PL4: held, the halt still standing', 'held', 'ended', true, 'look_later'],
    ['PL4, IL12: held, the halt lifted', 'held', 'ended', false, 'resume'],
    ['LE6: ending', 'ending', 'running', false, 'finish_ending'],
  ] as const)('%s', (_, state, execution, halted, kind) => {
    expect(runActionOf(runOf({ state }), execution, halted)).toEqual({ kind })
  })

  it('I5: every run that is not ended and not waiting for something alive is moved on', () => {
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

describe('when it looks again', () => {
  const recheckMs = 60_000
  const at = (item: object) => nextDueAt({ dueAt: 0, ...item } as DueItem, 1_000_000, recheckMs)

  it('a review that waits is looked at less often than one that works: only its ticket has to be seen', () => {
    expect(at({ kind: 'review', review: { state: 'leased' } })).toBe(1_060_000)
    expect(at({ kind: 'review', review: { state: 'waiting' } })).toBe(1_300_000)
  })

  it('an event that can not be done costs less and less', () => {
    expect(at({ kind: 'event', event: { eventAt: 1_000_000 } })).toBe(1_060_000)
    expect(at({ kind: 'event', event: { eventAt: 0 } })).toBe(1_250_000)
    expect(at({ kind: 'event', event: {} })).toBe(1_060_000)
  })

  it('everything is looked at again later than now', () => {
    for (const kind of ['run', 'message', 'resources', 'fleet', 'unknown']) expect(at({ kind })).toBe(1_060_000)
  })
})

describe('isWanted', () => {
  const review = { ...wantedReview(0), state: 'waiting', epoch: 1 } as Review

  it('a review is wanted by its own attempt while that runs, and by nothing else', () => {
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

  it.each(['waiting', 'granted', 'leased'] as const)(
    'IL4: the slot of a review that is %s at its epoch is held',
    (state) => {
      expect(seen(state, 2)).toEqual([])
    },
  )

  it.each(['completed', 'failed', 'ended', 'planned'] as const)(
    'IL6: the slot of a review that is %s is void',
    (state) => {
      expect(seen(state, 2)).toEqual([{ reviewId: 'r', epoch: 2 }])
    },
  )

  it('the slot of another epoch, or of a review that is not there, is void', () => {
    expect(seen('leased', 3)).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(seen('leased', 1)).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(voidSlots(slots, new Map())).toEqual([{ reviewId: 'r', epoch: 2 }])
    expect(voidSlots(slots, new Map([['r', undefined]]))).toEqual([{ reviewId: 'r', epoch: 2 }])
  })
})
