/** The number of reviews at work: configured, effective, and why the effective number is lower. Pure. */
import * as z from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import {
  EXTERNAL_POOL_CEILING,
  FLEET_CONCURRENCY_DEFAULT,
  FLEET_SLOTS_MAX,
  POOL_NAME_CHARS_MAX,
  POOLS_LIMITED_MAX,
} from '../base/limits.ts'
import type { Stored } from '../base/schema.ts'

/** Where a review works: our own functions without a model, workers outside, or one model. */
export type PoolName = 'lambda' | 'external' | `model/${string}`

const poolLimitsSchema = z.object({
  /** Reviews leased at once in this pool; absent = up to the ceilings of pool and fleet. */
  configured: z.number().exactOptional(),
  /** False: a single review at a time, whatever is configured. Absent = true. */
  enabled: z.boolean().exactOptional(),
})
export type PoolLimits = Stored<typeof poolLimitsSchema>

export const fleetLimitsSchema = z.object({
  /** Reviews leased at once. */
  configured: z.number(),
  /** False: one at a time, whatever is configured. */
  enabled: z.boolean(),
  /** Reviews of one repository leased at once; absent = up to the fleet's ceiling. */
  perRepository: z.number().exactOptional(),
  /** Concurrent executions granted to these functions by the account, as stated by an operator; absent = unknown. */
  accountQuota: z.number().exactOptional(),
  /** By pool. */
  pools: z.record(z.string(), poolLimitsSchema).exactOptional(),
  /** Raised by every change of the limits, not by grants; 0 for unchanged limits. */
  revision: z.number().exactOptional(),
})
export type FleetLimits = Stored<typeof fleetLimitsSchema>

export const LIMITS_DEFAULT: FleetLimits = { configured: FLEET_CONCURRENCY_DEFAULT, enabled: true }

/** Why the effective number is lower than the configured number. */
export type CeilingReason =
  | 'concurrency_disabled'
  | 'pool_ceiling'
  | 'account_limit'
  | 'per_repository'
  | 'fleet_ceiling'

export interface Effective {
  readonly configured: number
  readonly effective: number
  readonly reason?: CeilingReason
}

/** An upper bound, and its name. */
interface Bound {
  readonly at: number
  readonly reason: CeilingReason
}

/** The effective concurrency of the fleet. A stored value beyond a ceiling is reported, never refused (CE2). */
export function effectiveOf(limits: FleetLimits): Effective {
  return boundedBy(limits.configured, limits.enabled, boundsOfFleet(limits))
}

/** The effective concurrency of a pool: never more than the fleet's. */
export function effectiveOfPool(limits: FleetLimits, pool: string): Effective {
  const poolLimits = limits.pools?.[pool] ?? {}
  const fleet = effectiveOf(limits)
  const ceiling = ceilingOfPool(pool)
  const configured = poolLimits.configured ?? Math.min(ceiling, limits.configured)
  return boundedBy(configured, poolLimits.enabled ?? true, [
    { at: ceiling, reason: 'pool_ceiling' },
    { at: fleet.effective, reason: fleet.reason ?? 'fleet_ceiling' },
  ])
}

/** The effective concurrency of one repository. */
export function effectiveOfRepository(limits: FleetLimits): Effective {
  const fleet = effectiveOf(limits)
  const bounds: Bound[] = [{ at: fleet.effective, reason: fleet.reason ?? 'fleet_ceiling' }]
  if (limits.perRepository !== undefined) bounds.push({ at: limits.perRepository, reason: 'per_repository' })
  return boundedBy(limits.configured, true, bounds)
}

function boundedBy(configured: number, enabled: boolean, bounds: readonly Bound[]): Effective {
  if (!enabled) return { configured, effective: 1, reason: 'concurrency_disabled' }
  const lowest = bounds.reduce((low, bound) => (bound.at < low.at ? bound : low))
  const effective = Math.max(1, Math.min(configured, lowest.at))
  return effective < configured ? { configured, effective, reason: lowest.reason } : { configured, effective }
}

function boundsOfFleet({ accountQuota }: Pick<FleetLimits, 'accountQuota'>): Bound[] {
  return [
    { at: FLEET_SLOTS_MAX, reason: 'fleet_ceiling' },
    ...(accountQuota === undefined ? [] : [{ at: accountQuota, reason: 'account_limit' } as const]),
  ]
}

function ceilingOfPool(pool: string): number {
  return pool === 'external' ? EXTERNAL_POOL_CEILING : FLEET_SLOTS_MAX
}

const count = z.int().min(1)
const poolName = z
  .string()
  .max(POOL_NAME_CHARS_MAX)
  .regex(/^(lambda|external|model\/[^\s#]+)$/, 'expected lambda, external or model/<name>')
const poolPatch = z.strictObject({ configured: count.nullable(), enabled: z.boolean().nullable() }).partial()

/** A change of limits: only the named members change, and null takes a value back to its default. */
export const limitsPatch = z
  .strictObject({
    configured: count.nullable(),
    enabled: z.boolean().nullable(),
    perRepository: count.nullable(),
    accountQuota: count.nullable(),
    pools: z.record(poolName, poolPatch.nullable()),
  })
  .partial()
export type LimitsPatch = z.infer<typeof limitsPatch>

/** The effect of a change of limits. `limit` is the refused member, or the limit exceeded. */
export type LimitsChange =
  | { readonly kind: 'changed'; readonly limits: FleetLimits }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly limit: string; readonly sentence: string }

/**
 * The present limits with an untrusted patch merged in. Refused: `limits_invalid` for an invalid patch, `limit_above_ceiling`
 * for a value beyond a ceiling (CE2), `limits_changed` if `revision` is outdated. Only rules touched by the patch are checked:
 * a stored value beyond a ceiling prevents no other change.
 */
export function changeLimits(current: FleetLimits, patch: unknown, revision?: number): LimitsChange {
  const parsed = limitsPatch.safeParse(patch)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const limit = issue?.path.join('.') || 'limits'
    return { kind: 'refused', code: 'limits_invalid', limit, sentence: `${limit}: ${issue?.message ?? 'no limits'}.` }
  }
  const at = current.revision ?? 0
  if (revision !== undefined && revision !== at) {
    const sentence = `The limits are at revision ${at} by now, not ${revision}.`
    return { kind: 'refused', code: 'limits_changed', limit: 'revision', sentence }
  }
  const limits = { ...merged(current, parsed.data), revision: at + 1 }
  return refusalOf(limits, parsed.data) ?? { kind: 'changed', limits }
}

function merged(current: FleetLimits, patch: LimitsPatch): FleetLimits {
  const { pools: poolPatches = {}, ...patched } = patch
  const pools = { ...current.pools }
  for (const [name, change] of Object.entries(poolPatches)) {
    const pool = change === null ? {} : withoutNulls({ ...pools[name], ...change })
    if (Object.keys(pool).length > 0) pools[name] = pool
    else delete pools[name]
  }
  const { pools: _pools, ...fleetLimits } = current
  return {
    ...LIMITS_DEFAULT,
    ...withoutNulls({ ...fleetLimits, ...patched }),
    ...(Object.keys(pools).length > 0 ? { pools } : {}),
  }
}

/** Every member but null and absent members. */
function withoutNulls<T extends object>(members: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const kept = Object.entries(members).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(kept) as { [Name in keyof T]?: NonNullable<T[Name]> }
}

function refusalOf(limits: FleetLimits, patch: LimitsPatch): LimitsChange | undefined {
  const { configured, perRepository, accountQuota, pools = {} } = limits
  if (Object.keys(pools).length > POOLS_LIMITED_MAX) {
    const sentence = `At most ${POOLS_LIMITED_MAX} pools can have limits of their own.`
    return { kind: 'refused', code: 'limits_invalid', limit: 'pools', sentence }
  }
  const touched = (member: keyof LimitsPatch) => patch[member] !== undefined || patch.accountQuota !== undefined
  const ceiling = { limit: 'the fleet', at: FLEET_SLOTS_MAX }
  const quota = { limit: 'accountQuota', at: accountQuota ?? Number.POSITIVE_INFINITY }
  const rules = [
    ...(touched('configured') ? [{ member: 'configured', value: configured, bounds: [ceiling, quota] }] : []),
    ...(touched('perRepository') ? [{ member: 'perRepository', value: perRepository, bounds: [ceiling, quota] }] : []),
    ...Object.entries(pools)
      .filter(([name]) => patch.accountQuota !== undefined || patch.pools?.[name] !== undefined)
      .map(([name, pool]) => ({
        member: `pools.${name}.configured`,
        value: pool.configured,
        bounds: [{ limit: `the pool ${name}`, at: ceilingOfPool(name) }, quota],
      })),
  ]
  for (const { member, value = 0, bounds } of rules) {
    const bound = bounds.find(({ at }) => value > at)
    if (!bound) continue
    const sentence = `${member} is ${value}, but ${bound.limit} allows only ${bound.at}.`
    return { kind: 'refused', code: 'limit_above_ceiling', limit: bound.limit, sentence }
  }
  return undefined
}
