/** I1: the ceiling is real, and no slot idles. */
import { describe, expect, test } from 'vitest'
import { effectiveFleet, effectivePool, effectiveRepository } from './effective.ts'
import { expectBreach, observed } from './expect-breach.ts'
import { goOn, item, keys, LIMITS, PLAN, REPOSITORY, RUN, review, slot } from './synthetic.ts'

const fleet = { limits: LIMITS, slots: {}, closed: {}, granted: 0, version: 1 }

/** A world with three waiting reviews. */
function waiting() {
  const { world, observer } = observed('I1')
  const ids = [0, 1, 2].map((part) => `${RUN}/${PLAN}/correctness/${part}`)
  for (const part of [0, 1, 2]) {
    const waits = { ...review, part, attempt: 1, state: 'waiting', epoch: 1 }
    world.put(item([`RUN#${RUN}`, `REVIEW#${PLAN}#correctness#${part}`], waits))
  }
  const grant = (more: object, ...granted: readonly string[]) =>
    world.put(item(keys.fleet, { ...fleet, ...more, slots: Object.fromEntries(granted.map((id) => [id, slot])) }))
  return { world, observer, grant, ids: ids as [string, string, string] }
}

describe('I1: at a grant', () => {
  test('the fleet may hold as many slots as effective', () => {
    const { observer, grant, ids } = waiting()
    grant({}, ids[0], ids[1])
    observer.afterStep()
    expect(observer.counts.I1).toBe(1)
  })

  test('a slot more than effective is a breach', () => {
    const { observer, grant, ids } = waiting()
    grant({}, ...ids)
    expectBreach(observer.afterStep, 'I1', /A grant made the fleet hold more/)
  })

  test('slots above a lowered ceiling are a breach only at the next grant', () => {
    const { observer, grant, ids } = waiting()
    grant({}, ids[0], ids[1])
    grant({ limits: { ...LIMITS, configured: 1 }, version: 2 }, ids[0], ids[1])
    observer.afterStep()
    grant({ limits: { ...LIMITS, configured: 1 }, version: 2 }, ids[0], ids[2])
    expectBreach(observer.afterStep, 'I1', /A grant made the fleet hold more/)
  })

  test.each([
    ['a pool', { pools: { lambda: { configured: 1 } } }, /A grant made lambda hold more/],
    ['a repository', { perRepository: 1 }, /A grant made a repository hold more/],
    ['a fleet without concurrency', { enabled: false }, /A grant made the fleet hold more/],
  ])('%s has its own ceiling', (_name, limits, sentence) => {
    const { observer, grant, ids } = waiting()
    grant({ limits: { ...LIMITS, ...limits } }, ids[0], ids[1])
    expectBreach(observer.afterStep, 'I1', sentence)
  })

  test('a closed pool grants a slot to its only probe', () => {
    const { observer, grant, ids } = waiting()
    const probe = { reviewId: ids[0], epoch: 1 }
    grant({ closed: { lambda: { since: 1, until: 2, probe } } }, ids[0])
    observer.afterStep()
    grant({ closed: { lambda: { since: 1, until: 2, probe: { reviewId: ids[1], epoch: 1 } } } }, ids[0], ids[1])
    expectBreach(observer.afterStep, 'I1', /A second probe/)
  })

  test('a closed pool grants no slot without a probe', () => {
    const { observer, grant, ids } = waiting()
    grant({ closed: { lambda: { since: 1, until: 2 } } }, ids[0])
    expectBreach(observer.afterStep, 'I1', /A place in a closed pool/)
  })

  test('a grant under a halt is a breach, except shortly after the halt was set', () => {
    const { world, observer, grant, ids } = waiting()
    world.put(item(keys.halts, { scopes: { [`installation/${REPOSITORY.installationId}`]: { why: 'x' } }, version: 1 }))
    world.now += 10_000
    grant({}, ids[0])
    observer.afterStep()
    world.now += 600_000
    grant({}, ids[0], ids[1])
    expectBreach(observer.afterStep, 'I1', /A place was given to a repository long after/)
  })

  test('a slot is never of a later epoch than its review', () => {
    const { world, observer, ids } = waiting()
    world.put(item(keys.fleet, { ...fleet, slots: { [ids[0]]: { ...slot, epoch: 2 } } }))
    expectBreach(observer.afterStep, 'I1', /A slot is of a later epoch/)
  })
})

describe('I1: a free slot', () => {
  /** A free fleet and a ticket; then nothing happens. */
  function ticketWaits(more: object = {}) {
    const { world, observer } = observed('I1')
    world.put(item(keys.fleet, { ...fleet, ...more }))
    goOn(world, 'waits')
    observer.afterStep()
    return { world, observer }
  }

  test('is granted within a sweep', () => {
    const { world, observer } = ticketWaits()
    world.now += 200_000
    observer.afterStep()
    world.now += 600_000
    expectBreach(observer.afterStep, 'I1', /A place stayed free/)
  })

  test.each([
    ['the fleet is full', { limits: { ...LIMITS, configured: 1 }, slots: { [`${RUN}/${PLAN}/security/0`]: slot } }],
    ['its pool is closed', { closed: { lambda: { since: 1, until: 9e12 } } }],
    ['the repository holds all its slots', { limits: { ...LIMITS, perRepository: 1 }, slots: { other: slot } }],
  ])('may stay free where %s', (_name, more) => {
    const { world, observer } = observed('I1')
    goOn(world, 'waits')
    world.put(item([`RUN#${RUN}`, `REVIEW#${PLAN}#security#0`], { ...review, state: 'waiting', epoch: 1, attempt: 1 }))
    world.put(item(['RUN#other', 'REVIEW#undefined#undefined#undefined'], { ...review, state: 'waiting', epoch: 1 }))
    world.put(item(keys.fleet, { ...fleet, ...more }))
    observer.afterStep()
    world.now += 9_000_000
    observer.afterStep()
  })

  test('may stay free under a halt, or if the ticket is void', () => {
    const { world, observer } = ticketWaits()
    world.put(item(keys.halts, { scopes: { fleet: { why: 'x' } }, version: 1 }))
    observer.afterStep()
    world.now += 9_000_000
    observer.afterStep()
    world.put(item(keys.halts, { scopes: {}, version: 2 }))
    world.change(...keys.review, { state: 'ended', epoch: 2 })
    observer.afterStep()
    world.now += 9_000_000
    observer.afterStep()
  })
})

test('the effective limit is the lowest ceiling, and at least one slot', () => {
  expect(effectiveFleet({ configured: 300, enabled: true })).toBe(200)
  expect(effectiveFleet({ configured: 15, enabled: true, accountQuota: 4 })).toBe(4)
  expect(effectiveFleet({ configured: 15, enabled: false })).toBe(1)
  expect(effectivePool({ configured: 50, enabled: true }, 'external')).toBe(16)
  expect(effectivePool({ configured: 50, enabled: true, pools: { lambda: { enabled: false } } }, 'lambda')).toBe(1)
  expect(effectiveRepository({ configured: 15, enabled: true, perRepository: 3 })).toBe(3)
})
