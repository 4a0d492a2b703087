import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { effectiveOf } from '../../shared/ceiling.ts'
import { afterHandOver, FLEET_AT_REST, type Fleet, schedule, type Ticket } from '../../shared/schedule.ts'
import { ticket } from './samples.ts'

/** Few reviews, so that tickets of one review and slots of waiting ones come up often. */
const reviewId = fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `review-${index}`))
const epoch = fc.integer({ min: 1, max: 3 })

const anyTicket: fc.Arbitrary<Ticket> = fc.record({
  reviewId,
  epoch,
  repository: fc.constantFrom(1, 2, 3),
  pool: fc.constant('lambda'),
  turn: fc.integer({ min: 0, max: 5 }),
})

const anyFleet: fc.Arbitrary<Fleet> = fc.record({
  limits: fc.record({ configured: fc.integer({ min: -2, max: 8 }), enabled: fc.boolean() }),
  slots: fc.dictionary(
    reviewId,
    fc.record({ epoch, repository: fc.constantFrom(1, 2, 3), pool: fc.constant('lambda'), since: fc.constant(0) }),
  ),
  version: fc.nat(),
})

const held = (fleet: Fleet) => Object.keys(fleet.slots).length

describe('schedule', () => {
  it('CE1: 20 reviews at a ceiling of 15 are 15 grants and 5 that wait', () => {
    const waiting = Array.from({ length: 20 }, (_, index) => ticket(`review-${index}`, { turn: index }))
    const grants = schedule(FLEET_AT_REST, waiting)
    expect(grants).toEqual(waiting.slice(0, 15))
    expect(held(afterHandOver(FLEET_AT_REST, { grants, now: 1 }))).toBe(15)
  })

  it('CE7, AW43: a ceiling lowered below what is held grants nothing until fewer are held', () => {
    const slots = Object.fromEntries(
      Array.from({ length: 7 }, (_, i) => [`held-${i}`, { epoch: 1, repository: 1, pool: 'lambda', since: 0 }]),
    )
    let fleet: Fleet = { limits: { configured: 5, enabled: true }, slots, version: 1 }
    const granted: number[] = []
    for (let index = 0; index < 3; index += 1) {
      fleet = afterHandOver(fleet, { release: { reviewId: `held-${index}`, epoch: 1 }, grants: [], now: 1 })
      granted.push(schedule(fleet, [ticket('waits')]).length)
    }
    expect(granted).toEqual([0, 0, 1])
  })

  it('of two tickets of one review only the later epoch gets a place', () => {
    expect(schedule(FLEET_AT_REST, [ticket('a', { epoch: 2 }), ticket('a', { epoch: 1 })])).toEqual([
      ticket('a', { epoch: 2 }),
    ])
  })

  it('I1: after a grant never more slots are held than is effective, unless more were held before', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const after = afterHandOver(fleet, { grants: schedule(fleet, waiting), now: 1 })
        expect(held(after)).toBeLessThanOrEqual(Math.max(held(fleet), effectiveOf(fleet.limits).effective))
      }),
    )
  })

  it('I1: no place stays free while a review without a slot waits', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const after = afterHandOver(fleet, { grants: schedule(fleet, waiting), now: 1 })
        const left = waiting.filter((one) => after.slots[one.reviewId] === undefined)
        expect(left.length === 0 || held(after) >= effectiveOf(fleet.limits).effective).toBe(true)
      }),
    )
  })

  it('grants in order of turn: nobody waits who came before one that was granted', () => {
    fc.assert(
      fc.property(anyFleet, fc.uniqueArray(anyTicket, { selector: (one) => one.reviewId }), (fleet, waiting) => {
        const grants = schedule(fleet, waiting)
        const turns = grants.map(({ turn }) => turn)
        expect(turns).toEqual(turns.toSorted((a, b) => a - b))
        const last = turns.at(-1) ?? Number.NEGATIVE_INFINITY
        const left = waiting.filter((one) => fleet.slots[one.reviewId] === undefined && !grants.includes(one))
        for (const { turn } of left) expect(turn).toBeGreaterThanOrEqual(last)
      }),
    )
  })

  it('grants nothing twice: no review that holds a slot, and no review two times', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const granted = schedule(fleet, waiting).map((one) => one.reviewId)
        expect(new Set(granted).size).toBe(granted.length)
        for (const id of granted) expect(fleet.slots[id]).toBeUndefined()
      }),
    )
  })

  it('the order in which tickets were read changes nothing', () => {
    fc.assert(
      fc.property(anyFleet, fc.uniqueArray(anyTicket, { selector: (one) => one.reviewId }), (fleet, waiting) => {
        expect(schedule(fleet, waiting.toReversed())).toEqual(schedule(fleet, waiting))
      }),
    )
  })
})

describe('afterHandOver', () => {
  it('a slot of a later epoch than the release names is left alone', () => {
    const fleet = afterHandOver(FLEET_AT_REST, { grants: [ticket('a', { epoch: 2 })], now: 5 })
    expect(afterHandOver(fleet, { release: { reviewId: 'a', epoch: 1 }, grants: [], now: 6 }).slots).toEqual(
      fleet.slots,
    )
    expect(afterHandOver(fleet, { release: { reviewId: 'a', epoch: 3 }, grants: [], now: 6 }).slots).toEqual({})
  })

  it('leaves the fleet that it was given as it was', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const before = structuredClone(fleet)
        afterHandOver(fleet, { grants: schedule(fleet, waiting), release: { reviewId: 'review-0', epoch: 9 }, now: 1 })
        expect(fleet).toEqual(before)
      }),
    )
  })
})
