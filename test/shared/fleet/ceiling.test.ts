import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  EXTERNAL_POOL_CEILING,
  FLEET_CONCURRENCY_DEFAULT,
  FLEET_SLOTS_MAX,
  POOLS_LIMITED_MAX,
} from '../../../shared/base/limits.ts'
import {
  changeLimits,
  effectiveOf,
  effectiveOfPool,
  effectiveOfRepository,
  type FleetLimits,
  LIMITS_DEFAULT,
} from '../../../shared/fleet/ceiling.ts'

const limits = (changes: Partial<FleetLimits> = {}): FleetLimits => ({ ...LIMITS_DEFAULT, ...changes })

function changed(current: FleetLimits, patch: unknown): FleetLimits {
  const change = changeLimits(current, patch)
  if (change.kind === 'refused') throw new Error(`Expected the patch to be accepted, got: ${change.sentence}`)
  return change.limits
}

describe('effective limits', () => {
  it('AW94: a fleet at rest has its default of 15 slots, in each pool and for each repository', () => {
    const all = { configured: FLEET_CONCURRENCY_DEFAULT, effective: FLEET_CONCURRENCY_DEFAULT }
    expect(effectiveOf(LIMITS_DEFAULT)).toEqual(all)
    expect(effectiveOfPool(LIMITS_DEFAULT, 'lambda')).toEqual(all)
    expect(effectiveOfPool(LIMITS_DEFAULT, 'model/a')).toEqual(all)
    expect(effectiveOfRepository(LIMITS_DEFAULT)).toEqual(all)
  })

  it('CE3: with concurrency disabled the limit is 1, whatever is configured, for the fleet, its pools and its repositories', () => {
    const off = limits({ configured: 50, enabled: false, perRepository: 20, pools: { lambda: { configured: 30 } } })
    const one = { effective: 1, reason: 'concurrency_disabled' }
    expect(effectiveOf(off)).toEqual({ configured: 50, ...one })
    expect(effectiveOfPool(off, 'lambda')).toEqual({ configured: 30, ...one })
    expect(effectiveOfRepository(off)).toEqual({ configured: 50, ...one })
  })

  it('CE3: a pool with concurrency disabled has 1, every other pool keeps its limit', () => {
    const off = limits({ pools: { 'model/a': { configured: 8, enabled: false } } })
    expect(effectiveOfPool(off, 'model/a')).toEqual({ configured: 8, effective: 1, reason: 'concurrency_disabled' })
    expect(effectiveOfPool(off, 'model/b').effective).toBe(FLEET_CONCURRENCY_DEFAULT)
  })

  it('CE2: for a stored value beyond a ceiling the effective limit is reported, with the reason', () => {
    const beyond = limits({ configured: 5_000, pools: { external: { configured: 50 } } })
    expect(effectiveOf(beyond)).toEqual({ configured: 5_000, effective: FLEET_SLOTS_MAX, reason: 'fleet_ceiling' })
    expect(effectiveOfPool(beyond, 'external')).toEqual({
      configured: 50,
      effective: EXTERNAL_POOL_CEILING,
      reason: 'pool_ceiling',
    })
    expect(effectiveOf({ ...beyond, accountQuota: 10 })).toEqual({
      configured: 5_000,
      effective: 10,
      reason: 'account_limit',
    })
  })

  it('a pool and a repository have no more than the fleet, and name the limiting reason', () => {
    const tight = limits({
      configured: 20,
      accountQuota: 10,
      perRepository: 4,
      pools: { 'model/a': { configured: 12 } },
    })
    expect(effectiveOfPool(tight, 'model/a')).toEqual({ configured: 12, effective: 10, reason: 'account_limit' })
    expect(effectiveOfRepository(tight)).toEqual({ configured: 20, effective: 4, reason: 'per_repository' })
    expect(effectiveOfPool(limits({ configured: 5, pools: { lambda: { configured: 9 } } }), 'lambda')).toEqual({
      configured: 9,
      effective: 5,
      reason: 'fleet_ceiling',
    })
  })

  it('a limit is never below 1: a ceiling of 0 would be an invisible halt', () => {
    for (const configured of [0, -3]) {
      const low = limits({ configured, accountQuota: 0, perRepository: 0, pools: { lambda: { configured: 0 } } })
      const all = [effectiveOf(low), effectiveOfPool(low, 'lambda'), effectiveOfRepository(low)]
      expect(all.map(({ effective }) => effective)).toEqual([1, 1, 1])
    }
  })
})

describe('changeLimits', () => {
  it('changes only the named limits; null takes a value back to its default', () => {
    const before = limits({ configured: 20, perRepository: 3, pools: { lambda: { configured: 5, enabled: false } } })
    expect(changed(before, { configured: 30 })).toEqual({ ...before, configured: 30, revision: 1 })
    expect(changed(before, { pools: { lambda: { enabled: null } } }).pools).toEqual({ lambda: { configured: 5 } })
    expect(changed(before, { pools: { lambda: null } })).not.toHaveProperty('pools')
    expect(changed(before, { configured: null, perRepository: null })).toEqual({
      ...LIMITS_DEFAULT,
      pools: before.pools,
      revision: 1,
    })
  })

  it.each([
    ['the pool external', {}, { pools: { external: { configured: 50 } } }],
    ['the fleet', {}, { configured: FLEET_SLOTS_MAX + 1 }],
    ['the fleet', {}, { perRepository: FLEET_SLOTS_MAX + 1 }],
    ['accountQuota', { accountQuota: 16 }, { configured: 50 }],
    ['accountQuota', { accountQuota: 16 }, { perRepository: 50 }],
    ['accountQuota', { accountQuota: 16 }, { pools: { 'model/a': { configured: 17 } } }],
    ['accountQuota', { configured: 50 }, { accountQuota: 16 }],
    ['accountQuota', { pools: { 'model/a': { configured: 50 } } }, { accountQuota: 16 }],
  ])('CE2: a value beyond a ceiling is refused, and %s is named', (limit, current, patch) => {
    expect(changeLimits(limits(current), patch)).toMatchObject({ kind: 'refused', code: 'limit_above_ceiling', limit })
  })

  it.each([
    ['configured', { configured: 0 }],
    ['configured', { configured: 1.5 }],
    ['configured', { configured: '15' }],
    ['enabled', { enabled: 'yes' }],
    ['pools.GPU', { pools: { GPU: {} } }],
    ['pools.lambda', { pools: { lambda: { size: 1 } } }],
    ['limits', { ceiling: 3 }],
    ['limits', 'fifteen'],
    ['limits', null],
  ])('a malformed patch is refused, and %s is named', (limit, patch) => {
    expect(changeLimits(LIMITS_DEFAULT, patch)).toMatchObject({ kind: 'refused', code: 'limits_invalid', limit })
  })

  it('two limits that fit each other are accepted in one change, even if neither fits alone', () => {
    expect(changed(limits({ configured: 50 }), { configured: 10, accountQuota: 16 })).toMatchObject({
      configured: 10,
      accountQuota: 16,
    })
  })

  it('a stored value beyond a ceiling prevents no change of another limit', () => {
    const beyond = limits({ configured: 50, accountQuota: 16 })
    expect(changed(beyond, { enabled: false, perRepository: 4 })).toMatchObject({ configured: 50, perRepository: 4 })
  })

  it('an outdated revision is refused', () => {
    const once = changed(LIMITS_DEFAULT, { configured: 10 })
    expect(changeLimits(once, { configured: 12 }, 0)).toMatchObject({ code: 'limits_changed', limit: 'revision' })
    expect(changeLimits(once, { configured: 12 }, 1)).toMatchObject({ kind: 'changed', limits: { revision: 2 } })
  })

  it('the fleet item stays small: more pools than fit are refused', () => {
    const pools = Object.fromEntries(
      Array.from({ length: POOLS_LIMITED_MAX + 1 }, (_, i) => [`model/${i}`, { configured: 1 }]),
    )
    expect(changeLimits(LIMITS_DEFAULT, { pools })).toMatchObject({ code: 'limits_invalid', limit: 'pools' })
  })

  it('CE4: no sequence of accepted changes stores a value beyond a ceiling', () => {
    const value = fc.option(fc.integer({ min: 0, max: 250 }))
    const pool = fc.record({ configured: value, enabled: fc.option(fc.boolean()) }, { requiredKeys: [] })
    const patch = fc.record(
      {
        configured: value,
        enabled: fc.option(fc.boolean()),
        perRepository: value,
        accountQuota: value,
        pools: fc.dictionary(fc.constantFrom('lambda', 'external', 'model/a'), fc.option(pool), { maxKeys: 2 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(patch, { maxLength: 12 }), (patches) => {
        let now = LIMITS_DEFAULT
        for (const each of patches) {
          const change = changeLimits(now, each)
          if (change.kind === 'changed') now = change.limits
          const quota = now.accountQuota ?? FLEET_SLOTS_MAX
          const most = Math.min(quota, FLEET_SLOTS_MAX)
          expect(effectiveOf({ ...now, enabled: true }).effective).toBe(now.configured)
          expect(now.perRepository ?? 1).toBeLessThanOrEqual(most)
          for (const [name, { configured = 1 }] of Object.entries(now.pools ?? {})) {
            expect(configured).toBeLessThanOrEqual(name === 'external' ? Math.min(16, quota) : most)
          }
        }
      }),
    )
  })
})
