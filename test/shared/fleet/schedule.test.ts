import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TURN_ASKED_MS } from '../../../shared/base/limits.ts'
import { effectiveOf, effectiveOfPool, effectiveOfRepository, type FleetLimits } from '../../../shared/fleet/ceiling.ts'
import {
  closedBy,
  FLEET_AT_REST,
  type Fleet,
  freeSlots,
  isAllowed,
  isCounted,
  openedBy,
  schedule,
  type Ticket,
  turnOf,
  withGrants,
  withoutIdle,
  withoutSlots,
} from '../../../shared/fleet/schedule.ts'
import { ticket } from '../samples.ts'

const NOW = 1_000

/** Few reviews: tickets of the same review and slots of waiting reviews are frequent. */
const reviewId = fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `review-${index}`))
const epoch = fc.integer({ min: 1, max: 3 })
const repository = fc.constantFrom(1, 2, 3)
const pool = fc.constantFrom('lambda', 'model/a')

const anyTicket: fc.Arbitrary<Ticket> = fc.record({
  reviewId,
  epoch,
  repository,
  installation: fc.constant(70),
  pool,
  turn: fc.integer({ min: 0, max: 5 }),
})

const limit = fc.integer({ min: 1, max: 4 })
const anyLimits = fc.record(
  {
    configured: fc.integer({ min: -2, max: 8 }),
    enabled: fc.boolean(),
    perRepository: limit,
    pools: fc.record({ 'model/a': fc.record({ configured: limit }) }),
  },
  { requiredKeys: ['configured', 'enabled'] },
)

const anyFleet: fc.Arbitrary<Fleet> = fc.record({
  limits: anyLimits,
  slots: fc.dictionary(reviewId, fc.record({ epoch, repository, pool, since: fc.constant(0) })),
  closed: fc.record(
    {
      'model/a': fc.record(
        {
          since: fc.constant(0),
          until: fc.constantFrom(NOW - 1, NOW, NOW + 1),
          probe: fc.record({ reviewId, epoch }),
        },
        { requiredKeys: ['since', 'until'] },
      ),
    },
    { requiredKeys: [] },
  ),
  granted: fc.nat(),
  version: fc.nat(),
})

const held = (fleet: Fleet) => Object.keys(fleet.slots).length
const heldWhere = (fleet: Fleet, where: Partial<Ticket>) =>
  Object.values(fleet.slots).filter(
    (slot) => slot.repository === (where.repository ?? slot.repository) && slot.pool === (where.pool ?? slot.pool),
  ).length
const tickets = (count: number, changes: Partial<Ticket> = {}) =>
  Array.from({ length: count }, (_, index) =>
    ticket(`review-${changes.repository ?? 0}-${index}`, { turn: index, ...changes }),
  )
const fleetWith = (limits: Partial<FleetLimits>, ...grants: Ticket[]): Fleet =>
  withGrants({ ...FLEET_AT_REST, limits: { ...FLEET_AT_REST.limits, ...limits } }, grants, 0)

describe('schedule', () => {
  it('CE1: 20 reviews at a ceiling of 15 are 15 grants and 5 waiting tickets', () => {
    const waiting = tickets(20)
    const grants = schedule(FLEET_AT_REST, waiting, NOW)
    expect(grants).toEqual(waiting.slice(0, 15))
    expect(held(withGrants(FLEET_AT_REST, grants, NOW))).toBe(15)
  })

  it('CE7, AW43: a ceiling lowered below the held slots grants nothing until fewer are held', () => {
    let fleet = fleetWith({ configured: 5 }, ...tickets(7))
    const granted: number[] = []
    for (const { reviewId } of tickets(3)) {
      fleet = withoutSlots(fleet, [{ reviewId, epoch: 1 }])
      granted.push(schedule(fleet, [ticket('waits')], NOW).length)
    }
    expect(granted).toEqual([0, 0, 1])
  })

  it('CE8: a repository has no more than its limit, and another repository is served at once beside 100 tickets', () => {
    const many = tickets(100, { repository: 7 })
    const one = ticket('other', { repository: 8, turn: 1_000 })
    const fleet = fleetWith({ configured: 15, perRepository: 10 })
    expect(schedule(fleet, [...many, one], NOW)).toEqual([...many.slice(0, 10), one])
  })

  it('CE8: without a limit for repositories a ticket is served at its turn, however many tickets wait behind it', () => {
    const full = fleetWith({ configured: 3 }, ...tickets(3, { repository: 7 }))
    const freed = withoutSlots(full, [{ reviewId: 'review-7-0', epoch: 1 }])
    const one = ticket('other', { repository: 8, turn: 50 })
    const behind = Array.from({ length: 97 }, (_, index) => ticket(`late-${index}`, { turn: 51 + index }))
    expect(schedule(freed, [...behind, one], NOW)).toEqual([one])
  })

  it('a full pool holds no other pool up', () => {
    const fleet = fleetWith({ pools: { 'model/a': { configured: 2 } } })
    const model = tickets(5, { pool: 'model/a', repository: 1 })
    const analyzers = tickets(3, { repository: 2, turn: 90 })
    expect(schedule(fleet, [...model, ...analyzers], NOW)).toEqual([...model.slice(0, 2), ...analyzers])
  })

  it('of two tickets of one review only the later epoch gets a slot', () => {
    expect(schedule(FLEET_AT_REST, [ticket('a', { epoch: 2 }), ticket('a', { epoch: 1 })], NOW)).toEqual([
      ticket('a', { epoch: 2 }),
    ])
  })

  it('I1: a grant exceeds no ceiling of fleet, pool or repository, whatever was held before', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const after = withGrants(fleet, schedule(fleet, waiting, NOW), NOW)
        const { limits } = fleet
        expect(held(after)).toBeLessThanOrEqual(Math.max(held(fleet), effectiveOf(limits).effective))
        for (const one of waiting) {
          for (const [where, { effective }] of [
            [{ repository: one.repository }, effectiveOfRepository(limits)],
            [{ pool: one.pool }, effectiveOfPool(limits, one.pool)],
          ] as const) {
            expect(heldWhere(after, where)).toBeLessThanOrEqual(Math.max(heldWhere(fleet, where), effective))
          }
        }
      }),
    )
  })

  it('I1: no slot stays free while an allowed review without a slot waits', () => {
    fc.assert(
      // One ticket a review: an earlier ticket, perhaps of another pool, is void and gets nothing.
      fc.property(anyFleet, fc.uniqueArray(anyTicket, { selector: (one) => one.reviewId }), (fleet, waiting) => {
        const after = withGrants(fleet, schedule(fleet, waiting, NOW), NOW)
        const left = waiting.filter((one) => after.slots[one.reviewId] === undefined && isAllowed(after, one, NOW))
        expect(left.length === 0 || freeSlots(after) <= 0).toBe(true)
      }),
    )
  })

  it('grants in order of turn: no allowed ticket waits with an earlier turn than a granted ticket', () => {
    fc.assert(
      fc.property(anyFleet, fc.uniqueArray(anyTicket, { selector: (one) => one.reviewId }), (fleet, waiting) => {
        const grants = schedule(fleet, waiting, NOW)
        const turns = grants.map(({ turn }) => turn)
        expect(turns).toEqual(turns.toSorted((a, b) => a - b))
        const last = turns.at(-1) ?? Number.NEGATIVE_INFINITY
        const after = withGrants(fleet, grants, NOW)
        const left = waiting.filter((one) => after.slots[one.reviewId] === undefined && isAllowed(after, one, NOW))
        for (const { turn } of left) expect(turn).toBeGreaterThanOrEqual(last)
      }),
    )
  })

  it('grants no slot twice: neither to a review with a slot, nor to a review with two tickets', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), (fleet, waiting) => {
        const granted = schedule(fleet, waiting, NOW).map((one) => one.reviewId)
        expect(new Set(granted).size).toBe(granted.length)
        for (const id of granted) expect(fleet.slots[id]).toBeUndefined()
      }),
    )
  })

  it('the order of the tickets as read changes nothing', () => {
    fc.assert(
      fc.property(anyFleet, fc.uniqueArray(anyTicket, { selector: (one) => one.reviewId }), (fleet, waiting) => {
        expect(schedule(fleet, waiting.toReversed(), NOW)).toEqual(schedule(fleet, waiting, NOW))
      }),
    )
  })
})

describe('isCounted', () => {
  it('if false, the number of slots alone proves that no ceiling is exceeded, whatever was granted meanwhile', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), fc.array(anyTicket), (fleet, waiting, others) => {
        const grants = schedule(fleet, waiting, NOW)
        fc.pre(grants.length > 0 && !isCounted(fleet, grants))
        // Another process decided on the same fleet and wrote first; our grants are written if enough slots are left.
        const meanwhile = withGrants(fleet, schedule(fleet, others, NOW), NOW)
        fc.pre(!grants.some((one) => meanwhile.slots[one.reviewId]) && freeSlots(meanwhile) >= grants.length)
        const after = withGrants(meanwhile, grants, NOW)
        for (const { repository, pool } of grants) {
          expect(heldWhere(after, { repository })).toBeLessThanOrEqual(effectiveOfRepository(fleet.limits).effective)
          expect(heldWhere(after, { pool })).toBeLessThanOrEqual(effectiveOfPool(fleet.limits, pool).effective)
        }
      }),
    )
  })
})

describe('a closed pool', () => {
  const works = ticket('works', { pool: 'model/a' })
  const waits = tickets(3, { pool: 'model/a' })
  const open = fleetWith({}, works)
  const closed = closedBy(open, works, { until: NOW + 60, now: NOW })

  it('gets no grant until its time, unlike every other pool', () => {
    const analyzers = tickets(2, { repository: 2 })
    expect(schedule(closed, [...waits, ...analyzers], NOW + 59)).toEqual(analyzers)
  })

  it('gets one probe at its time, and no second while the probe works', () => {
    const grants = schedule(closed, waits, NOW + 60)
    expect(grants).toEqual(waits.slice(0, 1))
    const probing = withGrants(closed, grants, NOW + 60)
    expect(schedule(probing, waits, NOW + 9_999)).toEqual([])
  })

  it('gets another probe after a lost probe', () => {
    const probing = withGrants(closed, schedule(closed, waits, NOW + 60), NOW + 60)
    const lost = withoutSlots(probing, waits.slice(0, 1))
    expect(schedule(lost, waits.slice(1), NOW + 60)).toEqual(waits.slice(1, 2))
  })

  it('is opened by its probe and by no other review', () => {
    const [probe = works] = schedule(closed, waits, NOW + 60)
    const probing = withGrants(closed, [probe], NOW + 60)
    expect(openedBy(probing, works)).toBe(probing)
    expect(openedBy(probing, { ...probe, epoch: 2 })).toBe(probing)
    expect(openedBy(closed, works)).toBe(closed)
    const opened = openedBy(probing, probe)
    expect(opened.closed).toEqual({})
    expect(schedule(opened, waits, NOW)).toEqual(waits.slice(1))
  })

  it('is closed for longer by a probe throttled again, with the same begin', () => {
    const [probe = works] = schedule(closed, waits, NOW + 60)
    const again = closedBy(withGrants(closed, [probe], NOW + 60), probe, { until: NOW + 200, now: NOW + 70 })
    expect(again.closed).toEqual({ 'model/a': { since: NOW, until: NOW + 200 } })
  })

  it('is not shortened by an earlier throttled review, which leaves the probe alone', () => {
    const other = ticket('other', { pool: 'model/a' })
    const two = closedBy(withGrants(open, [other], NOW), works, { until: NOW + 60, now: NOW })
    const [probe = works] = schedule(two, waits, NOW + 60)
    const after = closedBy(withGrants(two, [probe], NOW + 60), other, { until: NOW + 1, now: NOW + 61 })
    expect(after.closed['model/a']).toMatchObject({ until: NOW + 60, probe: { reviewId: probe.reviewId, epoch: 1 } })
  })

  it('is forgotten after its time, without a ticket or a slot', () => {
    expect(withoutIdle(closed, [], NOW + 59)).toBe(closed)
    const left = withoutSlots(closed, [works])
    expect(withoutIdle(left, [], NOW + 59)).toBe(left)
    expect(withoutIdle(left, ['model/a'], NOW + 60)).toBe(left)
    expect(withoutIdle(closed, [], NOW + 60)).toBe(closed)
    expect(withoutIdle(left, ['lambda'], NOW + 60)).toEqual({ ...left, closed: {} })
  })

  it('I8: is left alone by a replaced worker', () => {
    expect(closedBy(open, { ...works, epoch: 2 }, { until: NOW + 60, now: NOW })).toBe(open)
    expect(closedBy(open, ticket('gone'), { until: NOW + 60, now: NOW })).toBe(open)
  })
})

describe('turnOf', () => {
  it('requests by a person go ten minutes before other work accepted at the same time', () => {
    const acceptedAt = 5_000_000
    expect(turnOf({ acceptedAt, cause: 'head:abc:main' })).toBe(acceptedAt)
    expect(turnOf({ acceptedAt, cause: 'comment:1' })).toBe(acceptedAt - TURN_ASKED_MS)
    expect(turnOf({ acceptedAt, cause: 'head:abc:main', askedBy: 'person' })).toBe(acceptedAt - TURN_ASKED_MS)
    expect(turnOf({ acceptedAt, cause: 'comment:1', askedBy: 'person' })).toBe(acceptedAt - TURN_ASKED_MS)
  })
})

describe('without', () => {
  it('a slot of a later epoch than the release is left alone', () => {
    const fleet = withGrants(FLEET_AT_REST, [ticket('a', { epoch: 2 })], 5)
    expect(withoutSlots(fleet, [{ reviewId: 'a', epoch: 1 }])).toBe(fleet)
    expect(withoutSlots(fleet, [{ reviewId: 'a', epoch: 3 }]).slots).toEqual({})
  })

  it('no change alters the fleet passed in', () => {
    fc.assert(
      fc.property(anyFleet, fc.array(anyTicket), anyTicket, (fleet, waiting, one) => {
        const before = structuredClone(fleet)
        openedBy(
          closedBy(withoutSlots(withGrants(fleet, schedule(fleet, waiting, NOW), NOW), [one]), one, {
            until: 9,
            now: 1,
          }),
          one,
        )
        expect(fleet).toEqual(before)
      }),
    )
  })
})
